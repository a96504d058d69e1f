import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { getWebhookClaimLeaseMs } from "../config.ts";
import type { WebhooksServiceContext } from "../context.ts";
import { releaseExpiredClaims } from "../queries/claims.ts";

const batchSize = 1_000;

/** Number of milliseconds for which a delivery must be overdue before it counts as missed by all instances. */
const overdueAfterMs = 2_000;

/**
 * Returns the task that requeues deliveries whose lease has expired, for example because their instance died, and then
 * makes all instances poll the webhooks that have overdue deliveries. A delivery can be overdue because no instance was
 * notified when it became due, for example if the instance that should have retried it has stopped.
 */
export const createRequeueTask = (everySeconds: number): PeriodicTask<WebhooksServiceContext> => ({
  name: "requeue due deliveries",
  intervalSeconds: everySeconds,
  async run({ db, log, clock, deliveryWorker, config }) {
    let expiredCount = 0;
    for (let releasedCount = batchSize; releasedCount === batchSize; expiredCount += releasedCount) {
      releasedCount = await releaseExpiredClaims(db, {
        now: clock(),
        leaseMs: getWebhookClaimLeaseMs(config),
        limit: batchSize,
      });
    }
    if (expiredCount > 0) log.warn({ deliveries: expiredCount }, "attempts interrupted by an expired lease; retrying");
    const overdueSince = new Date(clock().getTime() - (expiredCount > 0 ? 0 : overdueAfterMs));
    const { sql } = db;
    const overdueWebhooks = await sql<{ id: string }[]>`
      select id from webhooks w
      where state = 'active' and exists (
        select from webhook_deliveries d
        where d.location_id = w.location_id and d.webhook_id = w.id and d.state = 'pending' and d.event <> 'test'
          and d.due_at <= ${overdueSince}
      )`;
    deliveryWorker.pollAllInstances(overdueWebhooks.map(({ id }) => id));
  },
});
