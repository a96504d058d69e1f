import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { computeAdvisoryLockKey, type Database } from "@pragma/runtime/database/postgres";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createEncryption } from "@pragma/runtime/security/encryption";
import { type ArchivedTable, readArchivedTables } from "./archived-tables.ts";
import { type DataStoresConfig, readDataStoresConfig } from "./backup-and-restore.ts";
import { requireReachableDatabases } from "./database-snapshots.ts";
import { importAccountRow, publishImportedLocation, requireValidLocation } from "./import-accounts.ts";
import { type ImportedConsumer, selectConsumers } from "./imported-consumers.ts";
import { InvalidArchiveError } from "./location-archive.ts";
import {
  type ArchiveManifest,
  locationArchiveKeySchema,
  manifestPart,
  mapEncryptedColumns,
  objectPart,
  omittedTables,
  readArchiveLines,
  verifyLocationArchive,
} from "./location-manifest.ts";
import { importSequence, listLocationTables } from "./location-tables.ts";
import { openServiceDatabasePools, type ServiceDatabasePools } from "./service-database-pools.ts";
import { verifyArchiveContent } from "./verify-archived-rows.ts";
import {
  createRowImporter,
  findRowWithSameKey,
  isKeyOfOtherLocation,
  requireStorableRows,
  withValues,
} from "./write-location-rows.ts";

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

/** Everything that the steps of an import use. */
interface ImportContext extends ImportOptions {
  key: string;
  config: DataStoresConfig;
  databases: ServiceDatabasePools;
  locationId: string;
  archiveHash: string;
  encrypt: (text: string) => string;
  tables: Map<string, ArchivedTable>;
  /** The rows of the consumers of the location's keys, as JSON. */
  consumerRows: string[];
}

/**
 * Stores a location from an archive, with the same ids. First reads the whole archive and checks it. Then stores the
 * bodies and the rows of all services, except rows that cause work. In the end, stores these rows in one transaction for
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
  const manifest = await verifyLocationArchive(file, environment);
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
    const { consumerRows } = await verifyArchiveContent({ lines: readArchiveLines(file, key), manifest, tables });
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
      if (!started) await startImport(context, "accounts");
      await importBodies(context);
      await importRows(context);
      return importHeldRowsAndAccounts(context);
    });
    const parts = Object.fromEntries(Object.entries(manifest.parts).map(([part, { count }]) => [part, count]));
    return { locationId, parts, missingObjects, consumers };
  } finally {
    await databases.close();
  }
}

/** @throws `Error` that names the services with other migrations than the archive. */
async function requireSameMigrations(databases: ServiceDatabasePools, { migrations }: ArchiveManifest): Promise<void> {
  const differences: string[] = [];
  for (const service of importSequence) {
    const archived = migrations[service] ?? [];
    const rows = await databases.of(service).sql<{ name: string }[]>`select name from migrations`;
    const installed = rows.map(({ name }) => name);
    const missingHere = archived.filter((name) => !installed.includes(name));
    const missingThere = installed.filter((name) => !archived.includes(name));
    if (missingHere.length > 0)
      differences.push(`${service}: the archive is newer, this installation lacks ${missingHere.join(", ")}`);
    if (missingThere.length > 0)
      differences.push(`${service}: the archive is older, it lacks ${missingThere.join(", ")}`);
  }
  if (differences.length > 0)
    throw new InvalidArchiveError(
      `The archive and this installation have different migrations. Upgrade the older one, and export the location again if necessary.\n${differences.join("\n")}`,
    );
}

/** Runs `work` while no other command imports or removes this location. @throws `Error` if one does. */
export async function withLocationLock<Result>(
  { sql, schema }: Database,
  locationId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lockKey = computeAdvisoryLockKey(schema, `location ${locationId}`);
  const connection = await sql.reserve();
  try {
    const [row] = await connection<{ isLocked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey}::bigint) as is_locked`;
    if (!row?.isLocked) throw new Error("Another command is importing or removing this location.");
    return await work();
  } finally {
    await connection`select pg_advisory_unlock(${lockKey}::bigint)`.catch(() => {});
    connection.release();
  }
}

/** @throws `Error` if an import of another archive of the location was interrupted. */
async function findStartedImport({ databases, locationId, archiveHash }: ImportContext) {
  const [row] = await databases.of("accounts").sql<{ archiveHash: string; isFinished: boolean }[]>`
    select archive_hash, finished_at is not null as is_finished from location_imports
    where location_id = ${locationId}`;
  if (!row || row.archiveHash === archiveHash) return row;
  throw new Error(
    row.isFinished
      ? `The location ${locationId} was already imported from another archive.`
      : `The import of another archive of the location ${locationId} was interrupted. Run it again with that archive, or remove the location.`,
  );
}

/** @throws `Error` that names a table with rows of the location. */
async function requireNoLocationData({ databases, locationId }: ImportContext): Promise<void> {
  for (const service of importSequence) {
    const { sql, schema } = databases.of(service);
    for (const { name, condition } of await listLocationTables(sql, { name: service, schema })) {
      if (omittedTables.has(name) && name !== "unused_objects") continue;
      const rows = await sql.unsafe(`select 1 from "${name}" where ${condition} limit 1`, [locationId]);
      if (rows.length > 0 && name === "unused_objects")
        throw new Error(
          `A till of the location ${locationId} was being packed when the location was removed. Its object is deleted within an hour. Run the import again then.`,
        );
      if (rows.length > 0)
        throw new Error(`The location ${locationId} already has data in this installation (${service}.${name}).`);
    }
  }
}

/**
 * @throws `InvalidArchiveError` for rows that tables cannot store, and `Error` that names a table in which a row has an
 * id, a key hash or a legacy id of the archive.
 */
async function requireNewRows(context: ImportContext): Promise<void> {
  for await (const { service, table, rows } of readRowBatches(context)) {
    const { sql } = context.databases.of(service);
    const part = `${service}.${table}`;
    const completed = rows.map((row) => completeRow(part, row, context.locationId));
    await requireStorableRows(sql, { service, table, rows: completed });
    if (part === "accounts.locations") rows.forEach(requireValidLocation);
    // Consumers can exist, because locations share them.
    if (part === "accounts.consumers") continue;
    const found = await findRowWithSameKey(sql, { table, rows });
    if (found)
      throw new Error(
        `The archive cannot be imported, because ${part} already has a row with ${found}. It belongs to another location.`,
      );
  }
}

async function startImport({ databases, locationId, archiveHash }: ImportContext, service: ServiceName): Promise<void> {
  await databases.of(service).transaction(async (tx) => {
    await tx`insert into location_imports ${tx({ locationId, archiveHash })} on conflict do nothing`;
    // The location may have been removed from this installation before.
    await tx`delete from removed_locations where location_id = ${locationId}`;
  });
}

/**
 * Postpones the removal of bodies to which no till referred, such as those whose upload ended after the removal of the
 * location. The archive can contain them, and nothing refers to them until its rows are stored.
 *
 * @throws `Error` while a process is removing such a body.
 */
async function postponeBodyRemovals({ databases, locationId }: ImportContext): Promise<void> {
  const { sql } = databases.of("till-ingest");
  const pending = await sql<{ isClaimed: boolean }[]>`
    update pending_uploads set created_at = case when removal_claimed_at is null then now() else created_at end
    where starts_with(key, ${`tills/${locationId}/`}) and created_at < 'infinity'
    returning removal_claimed_at is not null as is_claimed`;
  if (pending.some(({ isClaimed }) => isClaimed))
    throw new Error(
      "A body that was being uploaded when the location was removed is being deleted. Run the import again in an hour.",
    );
}

async function importBodies(context: ImportContext): Promise<void> {
  const { file, key, config, log } = context;
  await postponeBodyRemovals(context);
  const store = createObjectStore(config.OBJECT_STORE);
  const logProgress = createProgressLog(log);
  let count = 0;
  // Bodies are the first part of an archive.
  const readBodies = async function* () {
    for await (const { part, json } of readArchiveLines(file, key)) {
      if (part !== objectPart) return;
      yield JSON.parse(json) as { key: string; stored: string };
    }
  };
  try {
    await Readable.from(readBodies()).forEach(
      async (body) => {
        if (!(await store.has(body.key))) await store.putStored(body.key, Buffer.from(body.stored, "base64"));
        logProgress(objectPart, ++count);
      },
      { concurrency: maxConcurrentBodies },
    );
  } finally {
    await store.close();
  }
}

/** Returns a row with the location that rows from an installation lack that was upgraded from version 1.0 a moment ago. */
const completeRow = (part: string, row: string, locationId: string) =>
  part === "till-ingest.till_versions" ? withValues(row, { location_id: locationId }) : row;

/** Stores the rows of all services but accounts that cause no work. */
async function importRows(context: ImportContext): Promise<void> {
  const { databases, locationId, encrypt } = context;
  const importedServices = new Set<ServiceName>();
  const services = importSequence.filter((service) => service !== "accounts");
  for (const service of services) {
    await startImport(context, service);
    const [row] = await databases.of(service).sql`
      select from location_imports where location_id = ${locationId} and rows_imported_at is not null`;
    if (row) importedServices.add(service);
  }
  const logProgress = createProgressLog(context.log);
  const counts = new Map<string, number>();
  let current: ServiceName | undefined;
  const finishService = async (service: ServiceName | undefined) => {
    if (service && !importedServices.has(service))
      await databases.of(service).sql`
        update location_imports set rows_imported_at = now() where location_id = ${locationId}`;
  };
  for await (const { service, table, rows } of readRowBatches(context)) {
    if (service === "accounts") break;
    if (service !== current) await finishService(current);
    current = service;
    if (importedServices.has(service)) continue;
    const part = `${service}.${table}`;
    const { sql } = databases.of(service);
    const inserted = await createRowImporter(sql, part).insertWithoutWork(
      rows.map((row) => completeRow(part, mapEncryptedColumns(part, row, encrypt), locationId)),
    );
    // Another location can have begun to use an id since the check.
    if (inserted < rows.length && (await isKeyOfOtherLocation(sql, { table, rows, locationId })))
      throw new Error(`The import cannot be completed, because another location uses an id of ${part}.`);
    counts.set(part, (counts.get(part) ?? 0) + rows.length);
    logProgress(part, counts.get(part) ?? 0);
  }
  await finishService(current);
}

/**
 * Stores the rows that cause work, in one transaction for each service, and then the rows of accounts. Returns the
 * consumers of the location's keys.
 */
async function importHeldRowsAndAccounts(context: ImportContext): Promise<ImportedConsumer[]> {
  const { databases, locationId } = context;
  const batches = readRowBatches(context)[Symbol.asyncIterator]();
  let next = await batches.next();
  let consumers: ImportedConsumer[] = [];
  for (const service of importSequence) {
    const db = databases.of(service);
    await db.transaction(async (tx) => {
      // The archive can be read slowly meanwhile.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      const [row] = await tx`
        select from location_imports where location_id = ${locationId} and finished_at is null for update`;
      // Scopes can have changed since the check.
      if (row && service === "accounts") consumers = await selectConsumers(tx, context);
      for (; !next.done && next.value.service === service; next = await batches.next()) {
        if (!row) continue;
        const { table, rows } = next.value;
        if (service === "accounts") for (const line of rows) await importAccountRow(tx, { table, line, consumers });
        else await createRowImporter(tx, `${service}.${table}`).insertHeldRows(rows);
      }
      if (!row) return;
      // Replicas that have this row have all imported rows.
      await tx`insert into location_writes ${tx({ locationId })}`;
      if (service === "accounts") await publishImportedLocation(tx, locationId);
      await tx`
        update location_imports set rows_imported_at = coalesce(rows_imported_at, now()), finished_at = now()
        where location_id = ${locationId}`;
    });
  }
  return consumers;
}

interface RowBatch {
  service: ServiceName;
  table: string;
  /** The rows as JSON. */
  rows: string[];
}

const maxConcurrentBodies = 16;
const maxBatchRows = 200;
const maxBatchLength = 4_000_000;
const minProgressIntervalMs = 2_000;

/** Yields the rows of an archive in batches of one table. */
async function* readRowBatches({ file, key, tables }: ImportContext): AsyncGenerator<RowBatch> {
  let batch: (RowBatch & { part: string; length: number }) | undefined;
  for await (const { part, json } of readArchiveLines(file, key)) {
    if (part === objectPart || part === manifestPart) continue;
    if (batch && (batch.part !== part || batch.rows.length === maxBatchRows || batch.length > maxBatchLength)) {
      yield batch;
      batch = undefined;
    }
    const table = tables.get(part);
    if (!table) throw new InvalidArchiveError(`The archive was changed during the import: ${part}.`);
    batch ??= { service: table.service, table: table.name, part, rows: [], length: 0 };
    batch.rows.push(json);
    batch.length += json.length;
  }
  if (batch) yield batch;
}

function createProgressLog(log: (line: string) => void) {
  let loggedAt = performance.now();
  return (part: string, count: number) => {
    if (performance.now() - loggedAt < minProgressIntervalMs) return;
    log(`${part} ${count}`);
    loggedAt = performance.now();
  };
}
