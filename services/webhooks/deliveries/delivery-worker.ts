import { startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { InstanceNotifier } from "@pragma/runtime/messaging/instance-notifier";
import type { PrometheusMetrics } from "@pragma/runtime/observability/metrics";
import { getWebhookAttemptTimeoutMs, getWebhookClaimLeaseMs } from "../config.ts";
import type { WebhooksDependencies } from "../dependencies.ts";
import {
  claimDueWebhookDeliveries,
  claimWebhookTestDeliveries,
  hasUnsettledTestDelivery,
  type ReleasedWebhookDeliveryClaim,
  releaseWebhookDeliveryClaims,
  type WebhookDeliveryClaim,
} from "../queries/claims.ts";
import { hasUnfinishedRecovery, requeueRecoveryBatch } from "../queries/recoveries.ts";
import { attemptWebhookDelivery } from "./attempt-delivery.ts";
import { createWebhookAttemptWriter } from "./attempt-writer.ts";
import { batchCalls } from "./batch-calls.ts";
import { WebhookDeliveryScheduler } from "./delivery-scheduler.ts";
import { createWebhookEndpointCache } from "./endpoint-cache.ts";
import { createHostTokenBuckets } from "./endpoint-queue.ts";
import { createMessageQuota } from "./message-quota.ts";
import { createWebhookHttpClient } from "./webhook-http-client.ts";

interface DeliveryWorkerOptions extends WebhooksDependencies {
  metrics: PrometheusMetrics;
  notifier: InstanceNotifier;
  /** Interval between the claims of test messages and recoveries while some are unfinished, in milliseconds. */
  pollMs: number;
}

export type WebhookDeliveryWorker = ReturnType<typeof startWebhookDeliveryWorker>;

/** Maximum delay of a retry with a timer, in milliseconds. The periodic task finds retries with a longer delay. */
const maxRetryTimerMs = 60_000;
/** Milliseconds added to a retry's timer, because a timer can fire a millisecond before the delivery is due. */
const retryTimerMarginMs = 2;
/**
 * Number of messages in flight from this instance. Beyond this number, each endpoint gets only its fair share. Each
 * endpoint always gets this share, so that no endpoint waits for endpoints of other origins.
 */
const maxActiveMessages = 1_000;
/** Maximum number of test messages in flight, in addition to the other messages. */
const maxActiveTests = 25;
/** By how much longer the polls for test messages and recoveries are apart while there are none. */
const idlePollFactor = 3;
const circuitFailureThreshold = 10;
const maxIdsPerSignal = 1_000;
/** Maximum number of deliveries that are counted per state, to bound the cost of the query. */
const maxCountedPerState = 100_000;

/**
 * Sends the deliveries in the database to their endpoints. Callers store new deliveries and then notify the worker. A
 * periodic task finds due deliveries for which no notification arrived.
 */
export function startWebhookDeliveryWorker(options: DeliveryWorkerOptions) {
  const { db, log, metrics, notifier, clock, endpointRules, config, pollMs } = options;
  const { sql } = db;
  const idlePollMs = idlePollFactor * pollMs;
  const nowMs = () => clock().getTime();
  const createLease = () => ({ now: clock(), expiresAt: new Date(nowMs() + getWebhookClaimLeaseMs(config)) });
  const findEndpoint = createWebhookEndpointCache(options, {
    onUrlChanged: (webhookId) => scheduler.resetEndpoint(webhookId),
  });
  const attemptWriter = createWebhookAttemptWriter(options);
  const httpClient = createWebhookHttpClient({
    ...endpointRules,
    timeoutMs: getWebhookAttemptTimeoutMs(config),
    maxConnectionsPerOrigin: maxActiveMessages,
  });
  const recordDuration = metrics.createDurationHistogram(
    "webhook_attempt_duration_seconds",
    "Duration of delivery attempts, by outcome and resulting delivery state",
  );
  const releaseClaim = batchCalls(
    (released: ReleasedWebhookDeliveryClaim[]) => releaseWebhookDeliveryClaims(sql, released),
    { maxBatchSize: 200, maxConcurrentBatches: 1 },
  );
  function onRetry({ webhookId }: WebhookDeliveryClaim, at: Date): void {
    const delayMs = Math.max(0, at.getTime() - nowMs()) + retryTimerMarginMs;
    if (delayMs <= maxRetryTimerMs) setTimeout(() => scheduler.poll([webhookId]), delayMs).unref();
  }
  const attemptServices = {
    ...options,
    findEndpoint,
    httpClient,
    consumeMessageQuota: createMessageQuota(options),
    attemptWriter,
    releaseClaim,
    recordDuration,
    onRetry,
  };
  const hostTokenBuckets = createHostTokenBuckets({
    perSecond: config.WEBHOOK_HOST_RATE_PER_SECOND,
    burst: config.WEBHOOK_HOST_BURST,
  });
  const [firstRetryMs = 0, secondRetryMs = firstRetryMs] = config.WEBHOOK_RETRY_SCHEDULE;
  const scheduler: WebhookDeliveryScheduler = new WebhookDeliveryScheduler({
    ...{ log, hostTokenBuckets, nowMs, pollMs: idlePollMs, maxActiveMessages },
    limits: {
      maxConcurrency: config.WEBHOOK_ENDPOINT_MAX_CONCURRENCY,
      // A failing endpoint is probed after the first delay of the retry schedule. After each failed probe, the next
      // probe follows after a longer delay, up to the second delay of the schedule.
      circuitBreaker: {
        failureThreshold: circuitFailureThreshold,
        initialOpenMs: firstRetryMs,
        maxOpenMs: Math.max(firstRetryMs, secondRetryMs),
      },
    },
    findEndpoint: (webhookId) => findEndpoint(webhookId),
    claimDue: (claimRequests) => claimDueWebhookDeliveries(sql, claimRequests, createLease()),
    attemptDelivery: (claim) => attemptWebhookDelivery(attemptServices, claim),
  });

  /** Claims and delivers test messages. */
  const testLoop = startClaimLoop({
    ...{ name: "tests", log, pollMs, idlePollMs, concurrency: maxActiveTests },
    hasItems: () => hasUnsettledTestDelivery(sql),
    claim: (limit) => claimWebhookTestDeliveries(sql, limit, createLease()),
    async processItem(claim) {
      const endpoint = await findEndpoint(claim.webhookId, claim.revision);
      const hostBucket = endpoint && hostTokenBuckets(endpoint.url);
      if (!hostBucket || hostBucket.take(performance.now())) {
        await attemptWebhookDelivery(attemptServices, claim);
        // The location's next test message may be waiting for the end of this attempt.
        testLoop.poll();
      }
      // The claim is released, because waiting for a token here would delay the test messages to other hosts.
      else await releaseClaim({ ...claim, dueAt: new Date(nowMs() + hostBucket.getWaitMs(performance.now())) });
    },
  });
  /** Requeues the failed deliveries for which a recovery was requested. */
  const recoveryLoop = startClaimLoop({
    ...{ name: "recoveries", log, pollMs, idlePollMs, concurrency: 1 },
    hasItems: () => hasUnfinishedRecovery(sql),
    async claim() {
      const webhookId = await db.transaction((tx) => requeueRecoveryBatch(tx, clock()));
      return webhookId === undefined ? [] : [webhookId];
    },
    processItem: async (webhookId) => pollAllInstances([webhookId]),
  });

  /** Makes every instance claim due deliveries of these webhooks, so that all instances share a large backlog. */
  function pollAllInstances(webhookIds: readonly string[]): void {
    scheduler.poll(webhookIds);
    for (let from = 0; from < webhookIds.length; from += maxIdsPerSignal) {
      notifier.publish("due", webhookIds.slice(from, from + maxIdsPerSignal).join(" "));
    }
  }
  notifier.subscribe((topic, webhookIds) => {
    if (topic === "due") scheduler.poll(webhookIds.split(" "));
  });
  const countActive = () => scheduler.activeCount;
  metrics.observeGauge("webhook_messages_in_flight", "Messages sent to endpoints and awaiting a response", countActive);
  const countOpenCircuits = () => scheduler.openCircuitCount;
  metrics.observeGauge("webhook_endpoints_circuit_open", "Endpoints whose circuit breaker is open", countOpenCircuits);
  metrics.observeGauges(
    "webhook_deliveries",
    "Unsettled deliveries by state, counted up to 100000 per state",
    async () => {
      const now = clock();
      // The others are only sent after a resumption.
      const pending = sql`
        select 1 from webhooks w join webhook_deliveries d on d.location_id = w.location_id and d.webhook_id = w.id
        where w.state = 'active' and d.state = 'pending'`;
      const [counts] = await sql<[{ due: number; waiting: number; sending: number }]>`
        select
          (select count(*) from (${pending} and d.due_at <= ${now} limit ${maxCountedPerState}) due) as due,
          (select count(*) from (${pending} and d.due_at > ${now} limit ${maxCountedPerState}) waiting) as waiting,
          (select count(*) from (select 1 from webhook_deliveries where state = 'sending' limit ${maxCountedPerState}) s) as sending`;
      return Object.entries(counts).map(([state, value]) => ({ value, labels: { state } }));
    },
  );
  metrics.observeGauges("webhooks", "Webhooks by state", async () => {
    const counts = await sql<{ state: string; count: number }[]>`
      select state, count(*) from webhooks where state <> 'deleted' group by state`;
    return counts.map(({ state, count }) => ({ value: count, labels: { state } }));
  });

  return {
    ...{ scheduler, testLoop, recoveryLoop, pollAllInstances },
    async close(): Promise<void> {
      attemptWriter.close();
      await Promise.all([scheduler.close(), testLoop.close(), recoveryLoop.close()]);
      await httpClient.close();
    },
  };
}
