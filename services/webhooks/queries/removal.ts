import type { Sql } from "@pragma/runtime/postgres";

/** Removes deliveries from before a time, with their attempts, up to so many; how many there were. */
export async function removeDeliveriesBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  return removeDeliveries(
    sql,
    sql`
      select id from deliveries where created_at < ${before} and state <> 'sending'
      order by created_at limit ${limit} for update skip locked`,
  );
}

/** Removes deliveries of webhooks that are deleted, with their attempts, up to so many; how many there were. */
export async function removeDeliveriesOfDeleted(sql: Sql, limit: number): Promise<number> {
  return removeDeliveries(
    sql,
    sql`
      select d.id from webhooks w join deliveries d on d.webhook_id = w.id
      where w.state = 'deleted' and d.state <> 'sending' limit ${limit} for update of d skip locked`,
  );
}

/** What another removes at the same time is left to it: two that remove the same in another order would wait for each other. */
async function removeDeliveries(sql: Sql, which: ReturnType<Sql>): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with which as (${which}),
      attempted as (delete from attempts where delivery_id in (select id from which)),
      gone as (delete from deliveries where id in (select id from which) returning 1)
    select count(*) as count from gone`;
  return row.count;
}

/** Removes the webhooks that are deleted and have no deliveries any more. */
export async function removeDeletedWebhooks(sql: Sql): Promise<void> {
  await sql`
    delete from webhooks where id in (
      select id from webhooks w
      where state = 'deleted' and not exists (select 1 from deliveries where webhook_id = w.id) for update skip locked
    )`;
}

/** Removes messages from before a time that are sent to nobody any more, up to so many; how many there were. */
export async function removeMessagesBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const removed = await sql`
    delete from messages where id in (
      select id from messages m
      where created_at < ${before} and not exists (select 1 from deliveries where message_id = m.id)
      order by created_at limit ${limit}
    )`;
  return removed.count;
}

/** Removes what is only told of for a time: counts of hours, and recoveries that are finished. */
export async function removeHistoryBefore(sql: Sql, before: Date): Promise<void> {
  await sql`delete from webhook_hours where hour < ${before}`;
  await sql`delete from recoveries where finished_at < ${before}`;
}

/** Removes secrets that have expired. */
export async function removeExpiredSecrets(sql: Sql, now: Date): Promise<void> {
  await sql`delete from recipient_secrets where expires_at <= ${now}`;
}
