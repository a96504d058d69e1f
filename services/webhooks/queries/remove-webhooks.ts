import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";

/** Maximum number of deliveries or messages that one statement removes. */
export const webhookDeliveryRemovalBatchSize = 1_000;

/**
 * Removes the deliveries of deleted webhooks, except attempts in flight, and the webhooks that have no deliveries left.
 * Removes up to `max` deliveries, rounded up to full batches.
 */
export async function removeRowsOfDeletedWebhooks(
  sql: SqlClient,
  { max = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const deletedDeliveryIds = sql`
    select d.id from webhooks w join deliveries d on d.webhook_id = w.id
    where w.state = 'deleted' and d.state <> 'sending' limit ${webhookDeliveryRemovalBatchSize} for update of d skip locked`;
  for (let removed = 0; removed < max; removed += webhookDeliveryRemovalBatchSize) {
    if ((await removeSelectedWebhookDeliveries(sql, deletedDeliveryIds)) < webhookDeliveryRemovalBatchSize) break;
  }
  await sql`
    delete from webhooks where id in (
      select id from webhooks w
      where state = 'deleted' and not exists (select 1 from deliveries where webhook_id = w.id) for update skip locked
    )`;
}

/**
 * Removes the deliveries that `deliveryIds` selects, with their attempts. Returns the number of removed deliveries. The
 * selection must skip locked rows, because two removals that lock the same rows in different sequences would deadlock.
 */
export async function removeSelectedWebhookDeliveries(sql: SqlClient, deliveryIds: SqlFragment): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with selected as (${deliveryIds}),
      deleted_attempts as (delete from attempts where delivery_id in (select id from selected)),
      deleted as (delete from deliveries where id in (select id from selected) returning 1)
    select count(*) as count from deleted`;
  return row.count;
}
