import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksContext } from "../context.ts";

const batchSize = 1_000;
const dayMs = 24 * 3_600_000;

/** Removes messages and the log of their deliveries once they are too old, and all that is left of deleted webhooks. */
export const removeOldMessages: PeriodicTask<WebhooksContext> = {
  name: "remove old messages",
  intervalSeconds: 3_600,
  async run({ db: { sql }, clock, config }) {
    const now = clock();
    const before = new Date(now.getTime() - config.WEBHOOK_KEPT_DAYS * dayMs);
    const oldDeliveries = sql`
      select id from deliveries where created_at < ${before} and state <> 'sending'
      order by created_at limit ${batchSize} for update skip locked`;
    while ((await removeDeliveries(sql, oldDeliveries)) === batchSize);
    const removeMessagesWithoutDeliveries = () => sql`
      delete from messages where id in (
        select id from messages m
        where created_at < ${before} and not exists (select from deliveries where message_id = m.id)
        order by created_at limit ${batchSize}
      )`;
    while ((await removeMessagesWithoutDeliveries()).count === batchSize);
    await sql`delete from webhook_hours where hour < ${before}`;
    await sql`delete from recoveries where finished_at < ${before}`;
    await removeDeletedWebhooks(sql);
    await sql`delete from recipient_secrets where expires_at <= ${now}`;
  },
};

/** Removes deleted webhooks with their deliveries, up to so many of these. */
export async function removeDeletedWebhooks(sql: SqlClient, { max = Number.POSITIVE_INFINITY } = {}): Promise<void> {
  const deliveriesOfDeleted = sql`
    select d.id from webhooks w join deliveries d on d.webhook_id = w.id
    where w.state = 'deleted' and d.state <> 'sending' limit ${batchSize} for update of d skip locked`;
  for (let removed = 0; removed < max; removed += batchSize) {
    if ((await removeDeliveries(sql, deliveriesOfDeleted)) < batchSize) break;
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
async function removeDeliveries(sql: SqlClient, deliveryIds: SqlFragment): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with which as (${deliveryIds}),
      attempted as (delete from attempts where delivery_id in (select id from which)),
      gone as (delete from deliveries where id in (select id from which) returning 1)
    select count(*) as count from gone`;
  return row.count;
}
