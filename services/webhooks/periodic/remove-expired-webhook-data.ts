import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "../context.ts";
import {
  removeRowsOfDeletedWebhooks,
  removeSelectedWebhookDeliveries,
  webhookDeliveryRemovalBatchSize,
} from "../queries/remove-webhooks.ts";

const dayMs = 24 * 3_600_000;

/**
 * Removes messages, deliveries, hourly statistics and finished recoveries that are older than the retention period.
 * Also removes expired secrets and the remaining rows of deleted webhooks.
 */
export const removeExpiredWebhookDataTask: PeriodicTask<WebhooksServiceContext> = {
  name: "remove old messages",
  intervalSeconds: 3_600,
  async run({ db: { sql }, clock, config }) {
    const now = clock();
    const before = new Date(now.getTime() - config.WEBHOOK_RETENTION_DAYS * dayMs);
    const oldDeliveries = sql`
      select id from deliveries where created_at < ${before} and state <> 'sending'
      order by created_at limit ${webhookDeliveryRemovalBatchSize} for update skip locked`;
    while ((await removeSelectedWebhookDeliveries(sql, oldDeliveries)) === webhookDeliveryRemovalBatchSize);
    const removeMessagesWithoutDeliveries = () => sql`
      delete from messages where id in (
        select id from messages m
        where created_at < ${before} and not exists (select from deliveries where message_id = m.id)
        order by created_at limit ${webhookDeliveryRemovalBatchSize}
      )`;
    while ((await removeMessagesWithoutDeliveries()).count === webhookDeliveryRemovalBatchSize);
    await sql`delete from webhook_hourly_stats where hour < ${before}`;
    await sql`delete from delivery_recoveries where finished_at < ${before}`;
    await removeRowsOfDeletedWebhooks(sql);
    await sql`delete from signing_secrets where expires_at <= ${now}`;
  },
};
