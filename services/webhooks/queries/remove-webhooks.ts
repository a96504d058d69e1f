import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import { getMessageDay } from "./message-days.ts";

/** Maximum number of deliveries or messages that one statement removes. */
export const deliveryRemovalBatch = 1_000;

const dayMs = 24 * 3_600_000;

/**
 * Removes the deliveries of deleted webhooks, except attempts in flight, and the webhooks that have no deliveries left.
 * Removes up to `max` deliveries, rounded up to full batches.
 */
export async function removeRowsOfDeletedWebhooks(
  db: Database,
  { max = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const { sql } = db;
  const [range] = await sql<[{ first: Date | null; last: Date | null }]>`
    select min(first) as first, max(last) as last from webhooks w, lateral (
      select min(created_at) as first, max(created_at) as last from webhook_deliveries d
      where d.location_id = w.location_id and d.webhook_id = w.id
    ) created
    where w.state = 'deleted'`;
  const { first, last } = range;
  let removed = 0;
  // Each statement removes the attempts of one day, which are in one partition.
  for (
    let day = first;
    day && last && getMessageDay(day) <= getMessageDay(last);
    day = new Date(day.getTime() + dayMs)
  ) {
    for (let count = deliveryRemovalBatch; count === deliveryRemovalBatch && removed < max; ) {
      count = await removeDeliveriesOfDeleted(sql, getMessageDay(day));
      removed += count;
    }
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
  const [row] = await sql<[{ count: number }]>`
    with selected as (
      select w.location_id, d.id
      from webhooks w join webhook_deliveries d on d.location_id = w.location_id and d.webhook_id = w.id
      where w.state = 'deleted' and d.state <> 'sending'
        and d.created_at >= ${`${day}T00:00:00Z`} and d.created_at < ${`${day}T00:00:00Z`}::timestamptz + interval '24 hours'
      limit ${deliveryRemovalBatch} for update of d skip locked
    ), deleted_attempts as (
      delete from attempts a using selected
      where a.delivery_id = selected.id
        and a.location_id = selected.location_id and a.created_on = ${day}::date
    ), deleted as (
      delete from webhook_deliveries d using selected
      where d.id = selected.id and d.location_id = selected.location_id
      returning 1
    )
    select count(*) as count from deleted`;
  return row.count;
}

/**
 * Removes a batch of the deliveries that were created before a time, except attempts in flight. Returns their number.
 * Their attempts are removed with the partition of their day.
 */
export async function removeExpiredDeliveries(sql: SqlClient, before: Date): Promise<number> {
  const { count } = await sql`
    with selected as (
      select location_id, id from webhook_deliveries where created_at < ${before} and state <> 'sending'
      order by created_at limit ${deliveryRemovalBatch} for update skip locked
    )
    delete from webhook_deliveries d using selected where d.location_id = selected.location_id and d.id = selected.id`;
  return count;
}
