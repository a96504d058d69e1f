import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "../context.ts";
import { dropDayPartitions, getMessageDay } from "../queries/message-days.ts";
import {
  deliveryRemovalBatch,
  removeExpiredDeliveries,
  removeRowsOfDeletedWebhooks,
} from "../queries/remove-webhooks.ts";

const dayMs = 24 * 3_600_000;

/**
 * Removes messages, deliveries, hourly statistics and finished recoveries that are older than the retention period.
 * Messages and attempts are removed by day, once no delivery of the day is left. Also removes expired secrets and the
 * remaining rows of deleted webhooks.
 */
export const removeExpiredWebhookDataTask: PeriodicTask<
  Pick<WebhooksServiceContext, "db" | "log" | "clock" | "config">
> = {
  name: "remove old messages",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db, log, clock, config }) {
    const { sql } = db;
    const now = clock();
    const before = new Date(now.getTime() - config.WEBHOOK_RETENTION_DAYS * dayMs);
    while ((await removeExpiredDeliveries(sql, before)) === deliveryRemovalBatch);
    const partitions = await dropDayPartitions(db, getMessageDay(before));
    if (partitions.length > 0) log.info({ partitions }, "old messages and attempts removed");
    await sql`delete from webhook_hourly_stats where hour < ${before}`;
    await sql`delete from delivery_recoveries where finished_at < ${before}`;
    await removeRowsOfDeletedWebhooks(db);
    await sql`delete from signing_secrets where expires_at <= ${now}`;
  },
};
