import type { SqlClient } from "@pragma/runtime/database/postgres";
import { getMessageDay } from "./deliveries.ts";

const batchSize = 1_000;

const dayMs = 24 * 3_600_000;

/**
 * Removes the deliveries of deleted webhooks, except attempts in flight, and the webhooks that have no deliveries left.
 * Removes up to `max` deliveries, rounded up to full batches.
 */
export async function removeRowsOfDeletedWebhooks(
  sql: SqlClient,
  { max = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const [{ first, last }] = await sql<[{ first: Date | null; last: Date | null }]>`
    select min(first) as first, max(last) as last from webhooks w, lateral (
      select min(created_at) as first, max(created_at) as last from webhook_deliveries d
      where d.location_id = w.location_id and d.webhook_id = w.id
    ) created
    where w.state = 'deleted'`;
  const lastDay = last && getMessageDay(last);
  let removed = 0;
  // Each statement removes the attempts of one day, which are in one partition.
  for (let day = first; day && lastDay && getMessageDay(day) <= lastDay; day = new Date(day.getTime() + dayMs)) {
    for (let count = batchSize; count === batchSize && removed < max; removed += count)
      count = await removeDeliveriesOfDeleted(sql, getMessageDay(day));
  }
  await sql`
    delete from webhooks where (location_id, id) in (
      select location_id, id from webhooks w
      where state = 'deleted' and not exists (
        select 1 from webhook_deliveries d where d.location_id = w.location_id and d.webhook_id = w.id
      )
      for update skip locked
    )`;
}

/**
 * Removes a batch of the deliveries of deleted webhooks that were created on one day, with their attempts. Returns the
 * number of removed deliveries. Skips locked rows, because two removals that lock the same rows in different sequences
 * would deadlock.
 */
async function removeDeliveriesOfDeleted(sql: SqlClient, day: string): Promise<number> {
  const { count } = await sql`
    with selected as (
      select w.location_id, d.id
      from webhooks w join webhook_deliveries d on d.location_id = w.location_id and d.webhook_id = w.id
      where w.state = 'deleted' and d.state <> 'sending'
        and d.created_at >= ${`${day}T00:00:00Z`} and d.created_at < ${`${day}T00:00:00Z`}::timestamptz + interval '24 hours'
      limit ${batchSize} for update of d skip locked
    ), deleted_attempts as (
      delete from attempts a using selected
      where a.delivery_id = selected.id
        and a.location_id = selected.location_id and a.created_on = ${day}::date
    )
    delete from webhook_deliveries d using selected
    where d.id = selected.id and d.location_id = selected.location_id`;
  return count;
}

/** Keeps attempts in flight. The other attempts are removed with the partition of their day. */
export async function removeExpiredDeliveries(sql: SqlClient, before: Date): Promise<void> {
  for (let count = batchSize; count === batchSize; )
    ({ count } = await sql`
      with selected as (
        select location_id, id from webhook_deliveries where created_at < ${before} and state <> 'sending'
        order by created_at limit ${batchSize} for update skip locked
      )
      delete from webhook_deliveries d using selected where d.location_id = selected.location_id and d.id = selected.id`);
}
