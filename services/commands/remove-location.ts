import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type BusEventType, busEventDataSchemas } from "@pragma/contracts/events";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { EnvironmentVariables } from "@pragma/runtime/config/renamed-variables";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { createEventBus, type EventBusConnection } from "@pragma/runtime/messaging/event-bus";
import { getEventStreamKind, isStreamOrConsumerNotFound } from "@pragma/runtime/messaging/event-streams";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { type CompressingObjectStore, createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { retryTransient } from "@pragma/runtime/retries/transient-error";
import { z } from "zod";
import { type DataStoresConfig, readDataStoresConfig } from "./backup-and-restore.ts";
import { requireReachableDatabases } from "./database-snapshots.ts";
import { withLocationLock } from "./import-location.ts";
import { importSequence, type LocationTable, listLocationObjects, listLocationTables } from "./location-tables.ts";
import { quoteForShell } from "./operator-commands.ts";
import { awaitEarlierTransactions, guardTables } from "./removed-location-guard.ts";
import { openServiceDatabasePools, type ServiceDatabasePools } from "./service-database-pools.ts";
import { deleteLocationRows } from "./write-location-rows.ts";

const natsConfigSchema = commonServiceConfigSchema.pick({ NATS_URL: true, EVENT_STREAM_REPLICAS: true });

/**
 * The events that tell gateways and services to forget the location, and that belong to the audit log, which outlives the
 * location. They contain no data of the location.
 */
const keptEventTypes: BusEventType[] = ["key.changed", "location.updated", "audit.recorded"];

const eventRetentionDays = 14;
const maxConcurrentDeletions = 16;
const unusedObjectBatchSize = 50;
const maxPasses = 10;
const passIntervalMs = 1_000;
const eventTimeoutMs = 30_000;
const transactionTimeoutMs = 120_000;

/** What a removal has removed, and what remains. */
const removalReceipt = z.object({
  locationId: z.guid(),
  requestedAt: z.iso.datetime(),
  removedAt: z.iso.datetime().nullable(),
  /** The number of rows of each table, as `service.table`, when the location could no longer get new rows. */
  rows: z.record(z.string(), z.number()).nullable(),
  /** The number of removed objects in the object store. */
  objects: z.number(),
  /** The number of removed messages in the event streams. */
  events: z.number(),
  /** What remains, and until when. */
  remaining: z.array(z.object({ what: z.string(), until: z.string() })),
});
type RemovalReceipt = z.infer<typeof removalReceipt>;

interface RemovalOptions {
  locationId: string;
  /** The id of the location, or its name, as the operator has repeated it. */
  confirmation: string | undefined;
  environment: EnvironmentVariables;
  log: (line: string) => void;
}

interface RemovalContext {
  config: DataStoresConfig;
  databases: ServiceDatabasePools;
  locationId: string;
  receipt: RemovalReceipt;
  log: (line: string) => void;
}

/**
 * Removes a location from this installation: its keys stop working, its webhooks stop, and then its objects, rows and
 * events are deleted. If the command is interrupted, it can be run again, and continues. Returns the receipt, which is
 * also stored in accounts.
 *
 * @throws `ConfigError`, and `Error` when the location does not exist or is not confirmed, before it changes anything.
 */
export async function removeLocation({
  locationId,
  confirmation,
  environment,
  log,
}: RemovalOptions): Promise<RemovalReceipt> {
  const config = readDataStoresConfig(environment);
  const natsConfig = readConfigFromEnvironment(natsConfigSchema, environment);
  await requireReachableDatabases(config);
  const databases = openServiceDatabasePools(config);
  try {
    return await withLocationLock(databases.of("accounts"), locationId, async () => {
      await requireConfirmation(databases.of("accounts"), locationId, confirmation);
      const receipt = await disableLocation(databases.of("accounts"), locationId);
      const context = { config, databases, locationId, receipt, log };
      if (receipt.removedAt === null) {
        await rejectNewRows(context);
        log("keys revoked, webhooks paused");
        await countRows(context);
        await removeObjects(context);
        await removeRowsUntilNoneIsLeft(context);
        await removeEvents(context, natsConfig);
        // Events that were handled in the meantime, or are no longer in the stream.
        await removeRowsUntilNoneIsLeft(context);
        await completeRemoval(context);
      }
      return receipt;
    });
  } finally {
    await databases.close();
  }
}

/** @throws `Error` if the location does not exist, or if the confirmation is neither its id nor its name. */
async function requireConfirmation({ sql }: Database, locationId: string, confirmation: string | undefined) {
  const [location] = await sql<{ name: string | null; establishmentName: string | null }[]>`
    select settings ->> 'locationName' as name, settings ->> 'establishmentName' as establishment_name
    from locations where id = ${locationId}`;
  const [started] = await sql`
    select from removed_locations where location_id = ${locationId}
    union all select from location_imports where location_id = ${locationId}`;
  if (!location && !started) throw new Error(`The location ${locationId} does not exist.`);
  const names = [locationId, location?.name, location?.establishmentName].filter((name) => !!name);
  if (confirmation && (names.includes(confirmation) || confirmation.toLowerCase() === locationId)) return;
  throw new Error(
    `To remove the location for ever, repeat its id or name: --yes ${quoteForShell(location?.name ?? location?.establishmentName ?? locationId)}`,
  );
}

/** Revokes the keys of the location, and records that it is being removed. Returns the receipt as far as it is known. */
async function disableLocation(accounts: Database, locationId: string): Promise<RemovalReceipt> {
  return accounts.transaction(async (tx) => {
    const started = await tx`insert into removed_locations ${tx({ locationId })} on conflict do nothing`;
    const [row] = await tx<{ requestedAt: Date; receipt: unknown }[]>`
      select requested_at, receipt from removed_locations where location_id = ${locationId}`;
    const keys = await tx<{ id: string; hash: string }[]>`
      update api_keys set revoked_at = now() where location_id = ${locationId} and revoked_at is null
      returning id, hash`;
    if (started.count > 0) {
      await publishAuditEvent(tx, operatorCommandAuditSource, {
        ...{ action: "location.removed", locationId, target: { type: "location", id: locationId } },
        details: { revokedKeys: keys.map(({ id }) => id) },
      });
    }
    for (const { id: keyId, hash: keyHash } of keys)
      await writeEventToOutbox(tx, "key.changed", {
        ...{ subject: keyId, traceparent: undefined },
        data: { locationId, keyId, keyHash, revoked: true },
      });
    const requestedAt = (row?.requestedAt ?? new Date()).toISOString();
    const initialReceipt = {
      locationId,
      requestedAt,
      removedAt: null,
      rows: null,
      objects: 0,
      events: 0,
      remaining: [],
    };
    return row?.receipt ? removalReceipt.parse(row.receipt) : initialReceipt;
  });
}

async function saveReceipt({ databases, locationId, receipt }: RemovalContext): Promise<void> {
  const { sql } = databases.of("accounts");
  await sql`
    update removed_locations set receipt = ${sql.json(receipt)}, removed_at = ${receipt.removedAt}
    where location_id = ${locationId}`;
}

/** Lets the databases reject new rows of the location, pauses its webhooks, and waits for earlier transactions. */
async function rejectNewRows({ databases, locationId }: RemovalContext): Promise<void> {
  for (const service of importSequence) {
    const db = databases.of(service);
    await db.sql`insert into removed_locations ${db.sql({ locationId })} on conflict do nothing`;
    await guardTables(db, service);
    if (service === "webhooks")
      await db.sql`
        update webhooks set state = 'paused', disabled_reason = null, revision = revision + 1
        where location_id = ${locationId} and state in ('active', 'disabled')`;
  }
  for (const service of importSequence) await awaitEarlierTransactions(databases.of(service), transactionTimeoutMs);
  const { sql } = databases.of("accounts");
  const isSent = async () => {
    const [unsent] = await sql`select from outbox where location_id = ${locationId}`;
    return !unsent;
  };
  // Gateways should know that the keys are revoked. Without the event, they ask again after KEY_CACHE_TTL_SECONDS.
  for (let waitedMs = 0; waitedMs < eventTimeoutMs && !(await isSent()); waitedMs += 250) await sleep(250);
}

/** Counts the rows for the receipt, unless an interrupted run has counted them. */
async function countRows(context: RemovalContext): Promise<void> {
  const { databases, locationId, receipt } = context;
  if (receipt.rows) return;
  const rows: Record<string, number> = {};
  for (const service of importSequence) {
    const { sql, schema } = databases.of(service);
    for (const { name, condition } of await listLocationTables(sql, { name: service, schema })) {
      const [row] = await sql.unsafe<{ count: number }[]>(
        `select count(*)::int as count from "${name}" where ${condition}`,
        [locationId],
      );
      if (row && row.count > 0) rows[`${service}.${name}`] = row.count;
    }
  }
  receipt.rows = rows;
  await saveReceipt(context);
}

async function removeObjects(context: RemovalContext): Promise<void> {
  const { databases, config, locationId, receipt, log } = context;
  const store = createObjectStore(config.OBJECT_STORE);
  let count = 0;
  try {
    for (const service of importSequence) {
      // The keys are in rows that are removed later, so that an interrupted removal finds them again.
      await Readable.from(listLocationObjects(databases.of(service).sql, { service, locationId })).forEach(
        async ({ key }: { key: string }) => {
          await store.delete(key);
          count += 1;
          if (count % 1_000 === 0) log(`objects ${count}`);
        },
        { concurrency: maxConcurrentDeletions },
      );
    }
    count += await removeObjectsOfUnpackedTills(databases.of("reporting"), { locationId, store });
  } finally {
    await store.close();
  }
  receipt.objects = Math.max(receipt.objects, count);
  await saveReceipt(context);
}

/**
 * Deletes the objects that tills had before they were unpacked, and their rows, so that the location can be imported
 * again. Returns the number of objects. Leaves rows of uploads, which are deleted within an hour after the upload began:
 * an upload can still be in progress, and its object could not be found without its row.
 */
async function removeObjectsOfUnpackedTills(
  reporting: Database,
  { locationId, store }: { locationId: string; store: Pick<CompressingObjectStore, "delete"> },
): Promise<number> {
  for (let count = 0; ; ) {
    const deleted = await reporting.transaction(async (tx) => {
      // Like the task of reporting that deletes objects, skips those that are being deleted.
      const rows = await tx<{ objectKey: string }[]>`
        select object_key from unused_objects
        where location_id = ${locationId} and delete_after > now() + interval '1 hour'
        order by object_key limit ${unusedObjectBatchSize} for update skip locked`;
      for (const { objectKey } of rows) await store.delete(objectKey);
      await tx`
        delete from unused_objects
        where location_id = ${locationId} and object_key = any(${rows.map(({ objectKey }) => objectKey)})`;
      return rows.length;
    });
    count += deleted;
    if (deleted < unusedObjectBatchSize) return count;
  }
}

/** Deletes all rows of the location, of tables before the tables to which their rows refer. */
async function removeRowsUntilNoneIsLeft(context: RemovalContext): Promise<void> {
  for (let pass = 1; (await removeRows(context)) > 0; pass++) {
    if (pass === maxPasses) throw new Error("New rows of the location appear again and again. Run the command again.");
    await sleep(passIntervalMs);
  }
}

/** Returns the number of deleted rows. */
async function removeRows(context: RemovalContext): Promise<number> {
  const { databases, locationId, log } = context;
  let total = 0;
  for (const service of importSequence) {
    const { sql, schema } = databases.of(service);
    const tables = await listLocationTables(sql, { name: service, schema });
    for (const table of tables.reverse().map((each) => toRemovableRows(service, each))) {
      const deleteBatches = () =>
        deleteLocationRows(sql, table, {
          locationId,
          onBatch(rows) {
            total += rows;
            log(`${service}.${table.name} ${rows}`);
          },
        });
      await retryTransient(deleteBatches, AbortSignal.timeout(transactionTimeoutMs));
    }
    await sql`delete from location_imports where location_id = ${locationId}`;
    // Stored responses begin with the id of the location of the key that sent the request.
    await sql`delete from idempotent_requests where starts_with(owner, ${`${locationId} `})`;
  }
  return total;
}

/** Returns a table with the condition on the rows to delete. */
function toRemovableRows(service: ServiceName, table: LocationTable): LocationTable {
  if (table.name === "outbox") {
    const keptTypes = keptEventTypes.map((type) => `'${type}'`).join(", ");
    return { ...table, condition: `location_id = $1 and type not in (${keptTypes})` };
  }
  switch (`${service}.${table.name}`) {
    // Operators' consumers, and consumers with keys of other locations, remain.
    case "accounts.consumers":
      return {
        ...table,
        condition: "location_id = $1 and not exists (select from api_keys where consumer_id = consumers.id)",
      };
    // A task of reporting deletes these objects and rows, so that the objects of uploads in progress are found.
    case "reporting.unused_objects":
      return { ...table, condition: "location_id = $1 and false" };
    default:
      return table;
  }
}

/** Deletes the events of the location from the streams. */
async function removeEvents(
  context: RemovalContext,
  { NATS_URL, EVENT_STREAM_REPLICAS }: z.infer<typeof natsConfigSchema>,
): Promise<void> {
  const { config, locationId, receipt } = context;
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  const until = inDays(eventRetentionDays);
  receipt.remaining = [
    { what: `events ${keptEventTypes.join(", ")}, which contain only ids, key hashes and audit entries`, until },
    { what: "entries of the audit log", until: "AUDIT_RETENTION_DAYS after they were made" },
    { what: "bodies whose upload did not end in a push, if there are any", until: inDays(2) },
    { what: "objects of tills that were being packed, if there are any", until: inDays(1 / 12) },
    {
      what: "responses to requests with an Idempotency-Key that operators have sent for the location",
      until: inDays(1),
    },
    { what: "backups, archives, logs, and what webhooks have received", until: "you delete them" },
  ];
  // The permissions are those of the migrate command.
  const log = createLogger({ name: "location", level: "warn" });
  const bus = createEventBus({ ...config, NATS_URL, EVENT_STREAM_REPLICAS }, { name: "migrate", log });
  try {
    const { manager } = await Promise.race([bus.connected, rejectAfterTimeout()]);
    for (const type of Object.keys(busEventDataSchemas) as BusEventType[]) {
      if (keptEventTypes.includes(type)) continue;
      receipt.events += await purgeSubject(manager, {
        stream: bus.streams[getEventStreamKind(type)],
        filter: bus.buildSubject(type, locationId),
      });
      // Version 1.0 has published order events to the stream of all other events.
      if (getEventStreamKind(type) !== "tills")
        receipt.events += await purgeSubject(manager, {
          stream: bus.streams.tills,
          filter: bus.buildFormerSubject(type, locationId),
        });
    }
  } finally {
    await bus.close();
  }
  await saveReceipt(context);
}

/** Deletes the events of a subject, and returns their number. A stream without events may not exist yet. */
async function purgeSubject(
  manager: EventBusConnection["manager"],
  { stream, filter }: { stream: string; filter: string },
): Promise<number> {
  try {
    return (await manager.streams.purge(stream, { filter })).purged;
  } catch (error) {
    if (isStreamOrConsumerNotFound(error)) return 0;
    throw error;
  }
}

async function rejectAfterTimeout(): Promise<never> {
  await sleep(eventTimeoutMs, undefined, { ref: false });
  throw new Error("NATS could not be reached. Run the command again.");
}

async function completeRemoval(context: RemovalContext): Promise<void> {
  context.receipt.removedAt = new Date().toISOString();
  await saveReceipt(context);
}
