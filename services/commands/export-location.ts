import { buffer } from "node:stream/consumers";
import type { ReadableStream } from "node:stream/web";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { createObjectStore, ObjectNotFoundError } from "@pragma/runtime/object-store/object-store";
import { createEncryption } from "@pragma/runtime/security/encryption";
import { type ArchivedTable, readArchivedTables } from "./archived-tables.ts";
import { type DataStoresConfig, readDataStoresConfig } from "./backup-and-restore.ts";
import { computeObjectHash } from "./copy-objects.ts";
import { type DatabaseSnapshot, withDatabaseSnapshots } from "./database-snapshots.ts";
import { toArchivedConsumerRow } from "./imported-consumers.ts";
import { InvalidArchiveError, requireWritableArchivePath, writeLocationArchive } from "./location-archive.ts";
import {
  type ArchiveManifest,
  addToPart,
  locationArchiveKeySchema,
  logReadLines,
  manifestPart,
  mapEncryptedColumns,
  objectPart,
  omittedTables,
  type PartHashes,
  readArchiveLines,
  summarizeParts,
} from "./location-manifest.ts";
import {
  importSequence,
  isReplacedOrUnfilledTable,
  listLocationObjects,
  listLocationTables,
} from "./location-tables.ts";
import { createProgressLog } from "./progress-log.ts";
import { openServiceDatabasePools } from "./service-database-pools.ts";
import { verifyArchiveContent } from "./verify-archived-rows.ts";

const exportConfigSchema = locationArchiveKeySchema.extend(commonServiceConfigSchema.pick({ DATA_KEYS: true }).shape);

const cursorRows = 200;

/** A service, and the database in which its schema is. */
interface ServiceSnapshot {
  sql: DatabaseSnapshot["sql"];
  service: DatabaseSnapshot["services"][number];
}

interface ExportOptions {
  locationId: string;
  file: string;
  /** Whether to export the location although the object store has none of its objects. */
  isAllowedWithMissingObjects: boolean;
  environment: EnvironmentVariables;
  log: (line: string) => void;
}

interface ExportResult {
  manifest: ArchiveManifest;
  /** Why an import would refuse the archive; undefined if it would not. */
  refusal: string | undefined;
}

/**
 * Writes all data of a location to an encrypted archive: the rows of all services, all of the same moment, and its
 * objects. Then reads the archive, and checks it as an import does.
 *
 * @throws `ConfigError`, and `Error` when the location does not exist, or when the object store has none of its objects.
 */
export async function exportLocation({
  locationId,
  file,
  isAllowedWithMissingObjects,
  environment,
  log,
}: ExportOptions): Promise<ExportResult> {
  const config = readDataStoresConfig(environment);
  const { LOCATION_ARCHIVE_KEY, DATA_KEYS } = readConfigFromEnvironment(exportConfigSchema, environment);
  await requireWritableArchivePath(file);
  const encryption = createEncryption(DATA_KEYS);
  const manifest: ArchiveManifest = {
    ...{ locationId, startedAt: new Date().toISOString(), migrations: {}, parts: {}, missingObjects: [] },
  };
  const hashes: PartHashes = new Map();
  let tables = new Map<string, ArchivedTable>();
  const logProgress = createProgressLog(log);
  const toLine = (part: string, json: string) => {
    const line = addToPart(hashes, part, json);
    logProgress(part, hashes.get(part)?.count ?? 0);
    return line;
  };
  await withDatabaseSnapshots(config.databases, config, async (snapshots) => {
    async function* writeLines() {
      const sources = snapshots.flatMap(({ sql, services }) => services.map((service) => ({ sql, service })));
      sources.sort((a, b) => importSequence.indexOf(a.service.name) - importSequence.indexOf(b.service.name));
      for (const source of sources) yield* writeObjects(source);
      const { missingObjects } = manifest;
      if (missingObjects.length > 0 && !hashes.has(objectPart) && !isAllowedWithMissingObjects)
        throw new Error(
          `The object store has none of the ${missingObjects.length} objects of the location. Check OBJECT_STORE. To export the location without them, add --allow-missing-objects.`,
        );
      for (const source of sources) yield* writeRows(source);
      if (!hashes.has("accounts.locations")) throw new Error(`The location ${locationId} does not exist.`);
      manifest.parts = summarizeParts(hashes);
      yield `${manifestPart} ${JSON.stringify(manifest)}\n`;
    }

    async function* writeRows({ sql, service }: ServiceSnapshot) {
      await sql`select set_config('search_path', ${service.schema}, true)`;
      const migrations = await sql<{ name: string }[]>`select name from migrations order by name`;
      manifest.migrations[service.name] = migrations.map(({ name }) => name);
      for (const { name, condition, exportCondition = condition } of await listLocationTables(sql, service)) {
        if (omittedTables.has(name) || isReplacedOrUnfilledTable(name)) continue;
        const part = `${service.name}.${name}`;
        const toArchivedRow = (row: string) =>
          part === "accounts.consumers"
            ? toArchivedConsumerRow(row, locationId)
            : mapEncryptedColumns(part, row, encryption.decrypt);
        const query = `select to_jsonb(t)::text as row from "${name}" t where ${exportCondition}`;
        for await (const batch of sql.unsafe<{ row: string }[]>(query, [locationId]).cursor(cursorRows)) {
          for (const { row } of batch) yield toLine(part, toArchivedRow(row));
        }
      }
    }

    async function* writeObjects({ sql, service }: ServiceSnapshot) {
      await sql`select set_config('search_path', ${service.schema}, true)`;
      const store = createObjectStore(config.OBJECT_STORE);
      try {
        for await (const { key, hash } of listLocationObjects(sql, { service: service.name, locationId })) {
          const stored = await readStoredObject(store, key, hash);
          if (stored) yield toLine(objectPart, JSON.stringify({ key, hash, stored: stored.toString("base64") }));
          else manifest.missingObjects.push(key);
        }
      } finally {
        await store.close();
      }
    }

    await writeLocationArchive(file, LOCATION_ARCHIVE_KEY, writeLines());
    tables = await readArchivedTables({
      of(name) {
        const source = snapshots.find(({ services }) => services.some((service) => service.name === name));
        const schema = source?.services.find((service) => service.name === name)?.schema;
        if (!source || !schema) throw new Error(`There is no database for ${name}.`);
        return { sql: source.sql, schema };
      },
    });
  });
  await recordExport(config, locationId);
  log("archive written");
  return {
    manifest,
    refusal: await findRefusal({
      lines: logReadLines(readArchiveLines(file, LOCATION_ARCHIVE_KEY), log),
      manifest,
      tables,
    }),
  };
}

/** Adds the export to the audit log, through the outbox of accounts. */
async function recordExport(config: DataStoresConfig, locationId: string): Promise<void> {
  const databases = openServiceDatabasePools(config);
  try {
    await databases.of("accounts").transaction((tx) =>
      publishAuditEvent(tx, operatorCommandAuditSource, {
        ...{ action: "location.exported", locationId, target: { type: "location", id: locationId } },
      }),
    );
  } finally {
    await databases.close();
  }
}

/** Returns the message of the error with which an import would refuse an archive, or undefined. */
async function findRefusal(verification: Parameters<typeof verifyArchiveContent>[0]): Promise<string | undefined> {
  try {
    await verifyArchiveContent(verification);
  } catch (error) {
    if (error instanceof InvalidArchiveError) return error.message;
    throw error;
  }
}

/** Returns an object as it is stored, or undefined if it no longer exists or does not have its hash. */
async function readStoredObject(
  store: ReturnType<typeof createObjectStore>,
  key: string,
  hash: string,
): Promise<Buffer | undefined> {
  try {
    const { body, encoding } = await store.streamStored(key);
    const stored = await buffer(body as ReadableStream<Uint8Array>);
    return (await computeObjectHash(stored, encoding)) === hash ? stored : undefined;
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  }
}
