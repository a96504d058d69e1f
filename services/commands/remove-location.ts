import { setTimeout as sleep } from "node:timers/promises";
import type { EnvironmentVariables } from "@pragma/runtime/config/environment-variables";
import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { computeAdvisoryLockKey, createDatabasePool, type Database } from "@pragma/runtime/database/postgres";
import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type DataStoresConfig, readDataStoresConfig } from "./backup-and-restore.ts";
import { forEachDatabase, requireReachableDatabase } from "./database-snapshots.ts";
import { countLocationRows, removalSequence } from "./location-tables.ts";
import {
  listRemainingData,
  natsConfigSchema,
  type RemovalContext,
  type RemovalReceipt,
  removalReceipt,
  saveReceipt,
} from "./removal-receipt.ts";
import { removeEvents, removeObjects, removeRowsUntilNoneIsLeft } from "./remove-location-data.ts";
import { awaitEarlierTransactions, guardTables } from "./removed-location-guard.ts";

const eventTimeoutMs = 30_000;
const transactionTimeoutMs = 120_000;

export interface LocationCommandContext {
  environment: EnvironmentVariables;
  log: (line: string) => void;
}

/**
 * Stops the keys and webhooks of a location, then deletes its objects, rows and events. Continues an interrupted removal.
 * Returns the receipt, which is also stored in accounts.
 *
 * @throws `ConfigError`, and `Error` when the location does not exist or is not confirmed, before it changes anything.
 */
export async function removeLocation(
  locationId: string,
  confirmation: string | undefined,
  { environment, log }: LocationCommandContext,
): Promise<RemovalReceipt> {
  const config = readRemovalConfig(environment);
  await forEachDatabase(config, requireReachableDatabase);
  const databases = createServiceDatabasePools(config);
  try {
    return await withLocationLock(databases.accounts, locationId, async () => {
      await requireConfirmation(databases.accounts, locationId, confirmation);
      const receipt = await disableLocation(databases.accounts, locationId);
      const context = { config, databases, locationId, receipt, log };
      if (receipt.removedAt === null) {
        await rejectNewRows(context);
        log("keys revoked, webhooks paused");
        await countRows(context);
        await removeObjects(context);
        await removeRowsUntilNoneIsLeft(context);
        receipt.remaining = listRemainingData();
        await removeEvents(context);
        // Events that were handled in the meantime, or are no longer in the stream.
        await removeRowsUntilNoneIsLeft(context);
        await addRemovalToChangeFeed(context);
        receipt.removedAt = new Date().toISOString();
        await saveReceipt(context);
      }
      return receipt;
    });
  } finally {
    await Promise.all(Object.values(databases).map((pool) => pool.close()));
  }
}

/** @throws `ConfigError` that lists what is missing. */
export function readRemovalConfig(environment: EnvironmentVariables): RemovalContext["config"] {
  return { ...readDataStoresConfig(environment), ...readConfigFromEnvironment(natsConfigSchema, environment) };
}

/** Returns a pool for each service, with two connections. */
export function createServiceDatabasePools({ databases, ...config }: DataStoresConfig): RemovalContext["databases"] {
  const log = createLogger({ name: "location", level: "warn" });
  const pools = databases.flatMap(({ url, services }) =>
    services.map(({ name, schema }) => {
      // One connection can hold a lock while another one does the work.
      const poolConfig = { ...config, DATABASE_URL: url, DATABASE_POOL: 2 };
      return [name, createDatabasePool(poolConfig, { schema, log })];
    }),
  );
  return Object.fromEntries(pools);
}

/** Runs `work` while no other command removes this location. @throws `Error` if one does. */
async function withLocationLock<Result>({ sql, schema }: Database, locationId: string, work: () => Promise<Result>) {
  const lockKey = computeAdvisoryLockKey(schema, `location ${locationId}`);
  const connection = await sql.reserve();
  try {
    const [row] = await connection<{ isLocked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey}::bigint) as is_locked`;
    if (!row?.isLocked) throw new Error("Another command is removing this location.");
    return await work();
  } finally {
    await connection`select pg_advisory_unlock(${lockKey}::bigint)`.catch(() => {});
    connection.release();
  }
}

/** Returns a text as one word of a command line. Names can contain characters that a shell would interpret. */
const quoteForShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** @throws `Error` if the location does not exist, or if the confirmation is neither its id nor its name. */
async function requireConfirmation({ sql }: Database, locationId: string, confirmation: string | undefined) {
  const [location] = await sql<{ name: string | null; establishmentName: string | null }[]>`
    select settings ->> 'locationName' as name, settings ->> 'establishmentName' as establishment_name
    from locations where id = ${locationId}`;
  const [started] = await sql`select from removed_locations where location_id = ${locationId}`;
  if (!location && !started) throw new Error(`The location ${locationId} does not exist.`);
  const names = [locationId, location?.name, location?.establishmentName].filter((name) => !!name);
  if (confirmation && (names.includes(confirmation) || confirmation.toLowerCase() === locationId)) return;
  throw new Error(
    `To remove the location permanently, repeat its id or name: --yes ${quoteForShell(location?.name ?? location?.establishmentName ?? locationId)}`,
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
    if (started.count > 0)
      await publishAuditEvent(tx, operatorCommandAuditSource, {
        ...{ action: "location.removed", locationId, target: { type: "location", id: locationId } },
        details: { revokedKeys: keys.map(({ id }) => id) },
      });
    for (const { id: keyId, hash: keyHash } of keys)
      await writeEventToOutbox(tx, "key.changed", {
        ...{ subject: keyId, traceparent: undefined },
        data: { locationId, keyId, keyHash, revoked: true },
      });
    if (row?.receipt) return removalReceipt.parse(row.receipt);
    const requestedAt = (row?.requestedAt ?? new Date()).toISOString();
    return { locationId, requestedAt, removedAt: null, rows: null, objects: 0, events: 0, remaining: [] };
  });
}

/** Lets the databases reject new rows of the location, pauses its webhooks, and waits for earlier transactions. */
async function rejectNewRows({ databases, locationId }: RemovalContext): Promise<void> {
  for (const service of removalSequence) {
    const db = databases[service];
    await db.sql`insert into removed_locations ${db.sql({ locationId })} on conflict do nothing`;
    await guardTables(db, service);
    if (service !== "webhooks") continue;
    await db.sql`
      update webhooks set state = 'paused', disabled_reason = null, revision = revision + 1
      where location_id = ${locationId} and state in ('active', 'disabled')`;
    // The entry about the removal needs the next revision, which is read now, because the row in `changes` is deleted
    // before the entry is added.
    await db.sql`
      update removed_locations set receipt = jsonb_build_object('locationRevision', revision + 1)
      from changes
      where removed_locations.location_id = ${locationId} and removed_locations.receipt is null
        and changes.location_id = ${locationId} and type = 'location' and id = ${locationId}`;
  }
  for (const service of removalSequence) await awaitEarlierTransactions(databases[service], transactionTimeoutMs);
  const { sql } = databases.accounts;
  const isSent = async () => {
    const [unsent] = await sql`select from outbox where location_id = ${locationId}`;
    return !unsent;
  };
  // Gateways should know that the keys are revoked. Without the event, they ask again after KEY_CACHE_TTL_SECONDS.
  for (let waitedMs = 0; waitedMs < eventTimeoutMs && !(await isSent()); waitedMs += 250) await sleep(250);
}

async function countRows(context: RemovalContext): Promise<void> {
  const { databases, locationId, receipt } = context;
  if (receipt.rows) return;
  receipt.rows = {};
  for (const service of removalSequence) {
    const { sql, schema } = databases[service];
    Object.assign(receipt.rows, await countLocationRows(sql, { name: service, schema }, locationId));
  }
  await saveReceipt(context);
}

/**
 * Adds the removal to the feed of all locations. While the feed is locked, no instance of webhooks gives a position to a
 * change that it has read before.
 */
async function addRemovalToChangeFeed({ databases, locationId }: RemovalContext): Promise<void> {
  await databases.webhooks.transaction(async (tx) => {
    const [feed] = await tx<{ position: number }[]>`select position from all_changes_position for update`;
    const position = (feed?.position ?? 0) + 1;
    await tx`delete from all_changes where location_id = ${locationId} and type <> 'location'`;
    const added = await tx`
      insert into all_changes (location_id, type, id, position, location_position, removed_at, removed_revision)
      select location_id, 'location', location_id, ${position}, 0, now(), (receipt ->> 'locationRevision')::int
      from removed_locations where location_id = ${locationId} and receipt is not null
      on conflict (location_id, type, id) do update set
        position = excluded.position, location_position = 0, removed_at = excluded.removed_at,
        removed_revision = excluded.removed_revision`;
    if (added.count > 0) await tx`update all_changes_position set position = ${position}`;
  });
}
