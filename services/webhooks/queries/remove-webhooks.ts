import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";

export const removalBatchSize = 1_000;

/** Removes deleted webhooks with their deliveries, up to so many of these. */
export async function removeDeletedWebhooks(sql: SqlClient, { max = Number.POSITIVE_INFINITY } = {}): Promise<void> {
  const deliveriesOfDeleted = sql`
    select d.id from webhooks w join deliveries d on d.webhook_id = w.id
    where w.state = 'deleted' and d.state <> 'sending' limit ${removalBatchSize} for update of d skip locked`;
  for (let removed = 0; removed < max; removed += removalBatchSize) {
    if ((await removeDeliveries(sql, deliveriesOfDeleted)) < removalBatchSize) break;
  }
  await sql`
    delete from webhooks where id in (
      select id from webhooks w
      where state = 'deleted' and not exists (select 1 from deliveries where webhook_id = w.id) for update skip locked
    )`;
}

/**
 * Removes deliveries with their attempts, and returns how many there were. What another removes at the same time is left
 * to it: two that remove the same in another order would wait for each other.
 */
export async function removeDeliveries(sql: SqlClient, deliveryIds: SqlFragment): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with which as (${deliveryIds}),
      attempted as (delete from attempts where delivery_id in (select id from which)),
      gone as (delete from deliveries where id in (select id from which) returning 1)
    select count(*) as count from gone`;
  return row.count;
}
