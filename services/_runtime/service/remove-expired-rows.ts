import type { CommonServiceConfig } from "../config/runtime-config.ts";
import type { Database, SqlClient, SqlFragment } from "../database/postgres.ts";
import { maxReplicaLagSeconds, updateReplicaHeartbeat } from "../database/read-replica.ts";
import { removeExpiredSentEvents } from "../messaging/sent-events.ts";
import type { PeriodicTask } from "./define-service.ts";

const deleteBatchSize = 5_000;

/** Deletes in batches by primary key, because rows of different partitions or servers can have the same `ctid`. */
export async function deleteRowsInBatches(
  sql: SqlClient,
  name: string,
  condition: SqlFragment,
  onBatch: (rows: number) => void = () => {},
): Promise<void> {
  const table = sql(name);
  const keyColumns = await sql<{ name: string }[]>`
    select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any (indkey)
    where indrelid = ${name}::regclass and indisprimary`;
  const key = sql(keyColumns.map((column) => column.name));
  // The condition applies to the deleted row, too: another transaction can have changed the row since it was selected.
  const deleteBatch = () => sql`
    delete from ${table}
    where (${key}) in (select ${key} from ${table} where ${condition} limit ${deleteBatchSize}) and (${condition})`;
  for (let count = deleteBatchSize; count === deleteBatchSize; ) {
    ({ count } = await deleteBatch());
    if (count > 0) onBatch(count);
  }
}

async function removeExpiredRows(sql: SqlClient, inboxRetentionDays: number): Promise<void> {
  // Longer than a stream can contain an event again after it was handled, so that redelivered events are recognized.
  const oldestInboxTime = sql`now() - make_interval(days => ${inboxRetentionDays})`;
  const dayAgo = sql`now() - interval '24 hours'`;
  await deleteRowsInBatches(sql, "inbox", sql`handled_at < ${oldestInboxTime}`);
  const isExpired = sql`completed_at < ${dayAgo} or completed_at is null and reserved_at < ${dayAgo}`;
  await deleteRowsInBatches(sql, "idempotent_requests", isExpired);
  await deleteRowsInBatches(sql, "erased_orders", sql`erased_at < ${oldestInboxTime}`);
  await deleteRowsInBatches(sql, "event_attempts", sql`attempted_at < ${oldestInboxTime}`);
  await deleteRowsInBatches(sql, "daily_usage", sql`day < (now() at time zone 'UTC')::date - 7`);
}

/** Forgets writes that every replica with an acceptable lag has. */
export async function removeOldLocationWrites(sql: SqlClient): Promise<void> {
  const oldest = sql`now() - make_interval(secs => ${10 * maxReplicaLagSeconds})`;
  await deleteRowsInBatches(sql, "location_writes", sql`written_at < ${oldest}`);
}

/** Returns the periodic tasks that every service has. */
export function createRuntimeTasks({ sql, replica }: Database, config: CommonServiceConfig): PeriodicTask<unknown>[] {
  const { INBOX_RETENTION_DAYS, SENT_EVENT_RETENTION_HOURS } = config;
  const hour = 3_600;
  return [
    {
      ...{ name: "remove expired rows", intervalSeconds: hour, timeoutSeconds: hour },
      run: () => removeExpiredRows(sql, INBOX_RETENTION_DAYS),
    },
    { name: "remove old location writes", intervalSeconds: 600, run: () => removeOldLocationWrites(sql) },
    {
      ...{ name: "remove sent events", intervalSeconds: hour },
      run: () => removeExpiredSentEvents(sql, SENT_EVENT_RETENTION_HOURS),
    },
    ...(replica ? [{ name: "replica heartbeat", intervalSeconds: 5, run: () => updateReplicaHeartbeat(sql) }] : []),
  ];
}
