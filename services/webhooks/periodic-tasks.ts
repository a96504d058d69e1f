import { retryTransient } from "@pragma/runtime/retries/transient-error";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { getWebhookClaimLeaseMs } from "./config.ts";
import type { WebhooksServiceContext } from "./context.ts";
import { sequenceChanges } from "./queries/all-changes.ts";
import { findNextDueTimes, listWebhooksWithOverdueDeliveries, releaseExpiredClaims } from "./queries/claims.ts";
import { getMessageDay } from "./queries/deliveries.ts";
import { removeExpiredDeliveries, removeRowsOfDeletedWebhooks } from "./queries/remove-webhooks.ts";

const dayMs = 24 * 3_600_000;
/** Days for which partitions exist ahead, so that no rows go to the default partitions while no instance runs. */
const daysAhead = 7;

/**
 * Repeats `work` after lock timeouts, which bound how long other statements wait for it. They proceed between the attempts.
 */
const retryWhileLocked = <T>(work: () => Promise<T>) => retryTransient(work, AbortSignal.timeout(15_000));

/**
 * Creates the partitions of messages and attempts for the coming days. Moves rows of other days, which are in the default
 * partitions, to partitions of their own, so that they are removed with their day.
 */
export const createDayPartitionsTask: PeriodicTask<Pick<WebhooksServiceContext, "db" | "log" | "clock">> = {
  name: "create day partitions",
  intervalSeconds: 3_600,
  async run({ db: { sql }, log, clock }) {
    const now = clock();
    const lastDay = getMessageDay(new Date(now.getTime() + daysAhead * dayMs));
    const [{ created }] = await retryWhileLocked(
      () => sql<[{ created: string[] }]>`
        select create_day_partitions(${getMessageDay(now)}::date, ${lastDay}::date) as created`,
    );
    if (created.length > 0) log.info({ partitions: created }, "partitions for messages and attempts created");
  },
};

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
    await removeExpiredDeliveries(sql, before);
    const dropOldestPartition = () =>
      sql<[{ partition: string | null }]>`select drop_day_partition(${getMessageDay(before)}::date) as partition`;
    const partitions: string[] = [];
    for (let dropped: string | null = ""; dropped !== null; ) {
      [{ partition: dropped }] = await retryWhileLocked(dropOldestPartition);
      if (dropped !== null) partitions.push(dropped);
    }
    if (partitions.length > 0) log.info({ partitions }, "old messages and attempts removed");
    await sql`delete from webhook_hourly_stats where hour < ${before}`;
    await sql`delete from delivery_recoveries where finished_at < ${before}`;
    await removeRowsOfDeletedWebhooks(sql);
    await sql`delete from signing_secrets where expires_at <= ${now}`;
  },
};

const expiredClaimBatch = 1_000;
/** Number of milliseconds for which a delivery must be overdue before it counts as missed by all instances. */
const overdueAfterMs = 2_000;

/**
 * By how much longer searches are apart while no delivery is due before. A delivery that is stored after a search is claimed
 * by its own instance. Its first retry is only overdue later than the next search, and so is its lease.
 */
const idleFactor = 3;

/**
 * Returns the task that requeues deliveries whose lease has expired, for example because their instance died, and then
 * makes all instances poll the webhooks that have overdue deliveries. A delivery can be overdue because no instance was
 * notified when it became due, for example if the instance that should have retried it has stopped.
 */
export function createRequeueTask(intervalSeconds: number): PeriodicTask<WebhooksServiceContext> {
  /** On the clock of `performance.now()`. */
  let nextSearchMs = 0;
  return {
    name: "requeue due deliveries",
    intervalSeconds,
    async run({ db: { sql }, log, clock, deliveryWorker, config }) {
      if (performance.now() < nextSearchMs) return;
      const leaseMs = getWebhookClaimLeaseMs(config);
      const { leaseExpiresAt, pendingDueAt } = await findNextDueTimes(sql);
      let expiredCount = 0;
      if (leaseExpiresAt !== null && leaseExpiresAt <= clock())
        for (let count = expiredClaimBatch; count === expiredClaimBatch; expiredCount += count)
          count = await releaseExpiredClaims(sql, { now: clock(), leaseMs, limit: expiredClaimBatch });
      if (expiredCount > 0)
        log.warn({ deliveries: expiredCount }, "attempts interrupted by an expired lease; retrying");
      const overdueSince = new Date(clock().getTime() - (expiredCount > 0 ? 0 : overdueAfterMs));
      if (expiredCount > 0 || (pendingDueAt !== null && pendingDueAt <= overdueSince))
        deliveryWorker.pollAllInstances(await listWebhooksWithOverdueDeliveries(sql, overdueSince));
      const dueTimesMs = [leaseExpiresAt, pendingDueAt].flatMap((time) => time?.getTime() ?? []);
      // The runs at the interval are a few milliseconds early or late.
      const maxPauseMs = (idleFactor - 0.5) * intervalSeconds * 1_000;
      nextSearchMs =
        performance.now() + Math.min(...dueTimesMs.map((time) => time - clock().getTime()), leaseMs, maxPauseMs);
    },
  };
}

/** A few seconds of work. The next run continues. */
const maxSequencedBatches = 50;

/**
 * Adds changes to the feed of all locations while nobody reads it, so that a later reader does not have to wait. Readers do
 * the same before they read.
 */
export const sequenceChangesTask: PeriodicTask<Pick<WebhooksServiceContext, "db">> = {
  name: "add changes to the feed of all locations",
  intervalSeconds: 15,
  async run({ db }) {
    await sequenceChanges(db, { maxBatches: maxSequencedBatches });
  },
};
