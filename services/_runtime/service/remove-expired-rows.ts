import type { Database, SqlClient, SqlFragment } from "../database/postgres.ts";
import type { PeriodicTask } from "./define-service.ts";

const deleteBatchSize = 5_000;

/**
 * Deletes all table rows that match `condition`. Deletes them in batches, so that no statement takes long. Identifies
 * rows by `tableoid` and `ctid`, because rows of different partitions can have the same `ctid`.
 */
export async function deleteRowsInBatches(sql: SqlClient, name: string, condition: SqlFragment): Promise<void> {
  const table = sql(name);
  const deleteBatch = () =>
    sql`
      delete from ${table} as expired
      using (
        select tableoid as partition_id, ctid as row_id from ${table} where ${condition} limit ${deleteBatchSize}
      ) as batch
      where expired.ctid = batch.row_id and expired.tableoid = batch.partition_id`;
  while ((await deleteBatch()).count === deleteBatchSize);
}

/** Deletes expired rows from the runtime's tables: handled events, stored responses, attempts and daily usage. */
export const removeExpiredInboxAndIdempotencyRowsTask: PeriodicTask<{ db: Database; inboxRetentionDays: number }> = {
  name: "remove expired rows",
  intervalSeconds: 3_600,
  async run({ db: { sql }, inboxRetentionDays }) {
    // Ids of events are stored longer than the stream stores events, so that redelivered events are always recognized.
    const oldestInboxTime = sql`now() - make_interval(days => ${inboxRetentionDays})`;
    const dayAgo = sql`now() - interval '24 hours'`;
    await deleteRowsInBatches(sql, "inbox", sql`handled_at < ${oldestInboxTime}`);
    const isExpired = sql`completed_at < ${dayAgo} or completed_at is null and reserved_at < ${dayAgo}`;
    await deleteRowsInBatches(sql, "idempotent_requests", isExpired);
    await deleteRowsInBatches(sql, "event_attempts", sql`attempted_at < ${oldestInboxTime}`);
    await deleteRowsInBatches(sql, "daily_usage", sql`day < (now() at time zone 'UTC')::date - 7`);
  },
};
