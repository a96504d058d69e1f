import { createHash } from "node:crypto";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createEncryption } from "@pragma/runtime/security/encryption";
import { readArchivedTables } from "./archived-tables.ts";
import { readDataStoresConfig } from "./backup-and-restore.ts";
import { requireReachableDatabases } from "./database-snapshots.ts";
import { importObjects } from "./import-objects.ts";
import { findStartedImport, recordImportStart } from "./import-progress.ts";
import { importHeldRowsAndAccounts, importRows } from "./import-rows.ts";
import { type ImportedConsumer, selectConsumers } from "./imported-consumers.ts";
import { withLocationLock } from "./location-lock.ts";
import {
  locationArchiveKeySchema,
  logReadLines,
  readArchiveLines,
  verifyLocationArchive,
} from "./location-manifest.ts";
import { requireNewRows, requireNoLocationData, requireSameMigrations } from "./require-importable-location.ts";
import { openServiceDatabasePools } from "./service-database-pools.ts";
import { verifyArchiveContent } from "./verify-archived-rows.ts";

const importConfigSchema = locationArchiveKeySchema.extend(commonServiceConfigSchema.pick({ DATA_KEYS: true }).shape);

interface ImportOptions {
  file: string;
  /** Whether to import a location whose archive lacks bodies of its tills, or packed tills. */
  isAllowedWithMissingObjects: boolean;
  /** The names of existing consumers whose scopes the location's keys may get, even if the archive gives them fewer. */
  allowedConsumers: readonly string[];
  environment: EnvironmentVariables;
  log: (line: string) => void;
}

/** What an import has stored. */
interface ImportResult {
  locationId: string;
  /** The number of lines of each part of the archive. */
  parts: Record<string, number>;
  missingObjects: string[];
  consumers: ImportedConsumer[];
}

/**
 * Stores a location from an archive, with the same ids. First reads the whole archive and checks it. Then stores the
 * objects and the rows of all services, except rows that cause work. In the end, stores these rows in one transaction for
 * each service, and last the location and its keys. If the import is interrupted, it can be run again with the same
 * archive, and continues.
 *
 * @throws `InvalidArchiveError`, `ConfigError`, and `Error` when the archive cannot be imported, before it stores
 * anything.
 */
export async function importLocation(options: ImportOptions): Promise<ImportResult> {
  const { file, environment, log } = options;
  const config = readDataStoresConfig(environment);
  const { LOCATION_ARCHIVE_KEY: key, DATA_KEYS } = readConfigFromEnvironment(importConfigSchema, environment);
  const manifest = await verifyLocationArchive(file, { environment, log });
  const { locationId, missingObjects } = manifest;
  if (missingObjects.length > 0 && !options.isAllowedWithMissingObjects)
    throw new Error(
      `The archive lacks ${missingObjects.length} objects (missingObjects). To import the location without these bodies of tills and packed tills, add --allow-missing-objects.`,
    );
  await requireReachableDatabases(config);
  const databases = openServiceDatabasePools(config);
  const archiveHash = createHash("sha256").update(JSON.stringify(manifest)).digest("hex");
  const { encrypt } = createEncryption(DATA_KEYS);
  try {
    await requireSameMigrations(databases, manifest);
    const tables = await readArchivedTables(databases);
    const { consumerRows } = await verifyArchiveContent({
      ...{ lines: logReadLines(readArchiveLines(file, key), log), manifest, tables },
    });
    log("archive verified");
    const context = {
      ...{ ...options, key, config, databases, locationId, archiveHash, encrypt, tables, consumerRows },
    };
    const consumers = await withLocationLock(databases.of("accounts"), locationId, async () => {
      const started = await findStartedImport(context);
      if (started?.isFinished) return [];
      if (!started) {
        await requireNoLocationData(context);
        await requireNewRows(context);
      }
      await selectConsumers(databases.of("accounts").sql, context);
      if (!started) await recordImportStart(context, "accounts");
      await importObjects(context);
      await importRows(context);
      return importHeldRowsAndAccounts(context);
    });
    const parts = Object.fromEntries(Object.entries(manifest.parts).map(([part, { count }]) => [part, count]));
    return { locationId, parts, missingObjects, consumers };
  } finally {
    await databases.close();
  }
}
