import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { claimLeaseMs } from "../config.ts";
import type { WebhooksContext } from "../context.ts";
import { releaseExpiredDeliveryClaims } from "../queries/claims.ts";

const batchSize = 1_000;

/** What is due for longer than this was claimed by no instance. */
const overdueAfterMs = 2_000;

/**
 * Finds what no instance works on, and wakes them all: deliveries whose lease has lapsed because their instance died,
 * and those that became due without anything that says so, such as a retry whose instance has ended since.
 */
export const createDueDeliveriesTask = (everySeconds: number): PeriodicTask<WebhooksContext> => ({
  name: "sweep due deliveries",
  intervalSeconds: everySeconds,
  async run({ db: { sql }, log, clock, deliveryWorker, config }) {
    let expiredCount = 0;
    for (let releasedCount = batchSize; releasedCount === batchSize; expiredCount += releasedCount) {
      releasedCount = await releaseExpiredDeliveryClaims(sql, {
        now: clock(),
        leaseMs: claimLeaseMs(config),
        limit: batchSize,
      });
    }
    if (expiredCount > 0) log.warn({ deliveries: expiredCount }, "attempts were interrupted; they are made again");
    const overdueSince = new Date(clock().getTime() - (expiredCount > 0 ? 0 : overdueAfterMs));
    const overdueWebhooks = await sql<{ id: string }[]>`
      select id from webhooks w
      where state = 'active' and exists (
        select from deliveries where webhook_id = w.id and state = 'pending' and due_at <= ${overdueSince}
      )`;
    deliveryWorker.pollAllInstances(overdueWebhooks.map(({ id }) => id));
  },
});
