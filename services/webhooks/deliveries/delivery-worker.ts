import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { InstanceNotifier } from "@pragma/runtime/messaging/event-bus";
import type { Metrics } from "@pragma/runtime/observability/metrics";
import { attemptTimeoutMs, claimLeaseMs } from "../config.ts";
import type { WebhooksBaseContext } from "../context.ts";
import {
  claimDueDeliveries,
  claimTestDeliveries,
  type DeliveryClaim,
  type ReleasedClaim,
  releaseClaims,
} from "../queries/claims.ts";
import { recoverNextBatch } from "../queries/recoveries.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { createAttemptWriter } from "./attempt-writer.ts";
import { batchCalls } from "./batch-calls.ts";
import { DeliveryScheduler } from "./delivery-scheduler.ts";
import { createEndpointCache } from "./endpoint-cache.ts";
import { createHostTokenBuckets } from "./endpoint-queue.ts";
import { createWebhookHttpClient } from "./webhook-http-client.ts";

interface DeliveryWorkerOptions extends WebhooksBaseContext {
  metrics: Metrics;
  notifier: InstanceNotifier;
  /** How often is looked for what is due. */
  pollMs: number;
}

/**
 * What takes deliveries from the database to their endpoints. What is written in the database is done soon when this is
 * woken, and found by polling otherwise.
 */
export interface DeliveryWorker {
  /** Of this instance. */
  scheduler: DeliveryScheduler;
  /** Makes deliveries of test messages. */
  testLoop: Pick<ClaimLoop<DeliveryClaim>, "poll">;
  /** Makes due what is to be recovered. */
  recoveryLoop: Pick<ClaimLoop<string>, "poll">;
  /** Every instance claims what is due of these webhooks: for what may be a lot. */
  pollAllInstances(webhookIds: readonly string[]): void;
  /** Lets what is under way finish. */
  close(): Promise<void>;
}

/** Retries further away than this are left to the sweep. */
const maxRetryTimerMs = 60_000;
/** A timer may be early by a millisecond, and what is due at the next would not be claimed. */
const retryTimerMarginMs = 2;
/**
 * Messages under way at once from this instance. Beyond that an endpoint has no more than its fair share, and always
 * that, so that none waits for others.
 */
const maxActiveMessages = 1_000;
/** Test messages under way at once, beside all others. */
const maxActiveTests = 25;
const circuitFailureThreshold = 10;
const maxIdsPerSignal = 1_000;

export function startDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { db, log, metrics, notifier, clock, endpointRules, config, pollMs } = options;
  const nowMs = () => clock().getTime();
  const newLease = () => ({ now: clock(), expiresAt: new Date(nowMs() + claimLeaseMs(config)) });
  const findEndpoint = createEndpointCache(options, { onMoved: (webhookId) => scheduler.resetEndpoint(webhookId) });
  const attemptWriter = createAttemptWriter(options);
  const httpClient = createWebhookHttpClient({
    ...endpointRules,
    timeoutMs: attemptTimeoutMs(config),
    maxConnectionsPerOrigin: maxActiveMessages,
  });
  const recordDuration = metrics.createDurationHistogram(
    "webhook_attempt_duration_seconds",
    "Attempts to deliver, by outcome and by what became of the delivery",
  );
  const releaseClaim = batchCalls((released: ReleasedClaim[]) => releaseClaims(db.sql, released), {
    maxBatchSize: 200,
    maxConcurrentBatches: 1,
  });
  function onRetry({ webhookId }: DeliveryClaim, at: Date): void {
    const delayMs = Math.max(0, at.getTime() - nowMs()) + retryTimerMarginMs;
    if (delayMs <= maxRetryTimerMs) setTimeout(() => scheduler.poll([webhookId]), delayMs).unref();
  }
  const attemptServices = {
    log,
    clock,
    config,
    findEndpoint,
    httpClient,
    attemptWriter,
    releaseClaim,
    recordDuration,
    onRetry,
  };
  const hostTokenBuckets = createHostTokenBuckets({
    perSecond: config.WEBHOOK_HOST_RATE,
    burst: config.WEBHOOK_HOST_BURST,
  });
  const [firstRetryMs = 0, secondRetryMs = firstRetryMs] = config.WEBHOOK_SCHEDULE;
  const scheduler: DeliveryScheduler = new DeliveryScheduler({
    ...{ log, hostTokenBuckets, nowMs, pollMs, maxActiveMessages },
    limits: {
      maxConcurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
      // One that only fails is asked again as soon, and as seldom, as a first and second retry come.
      circuitBreaker: {
        failureThreshold: circuitFailureThreshold,
        initialOpenMs: firstRetryMs,
        maxOpenMs: Math.max(firstRetryMs, secondRetryMs),
      },
    },
    findUrl: async (webhookId) => (await findEndpoint(webhookId))?.url,
    claimDue: (pulls) => claimDueDeliveries(db.sql, pulls, newLease()),
    attemptDelivery: (claim) => attemptDelivery(attemptServices, claim),
  });

  const testLoop = startClaimLoop({
    ...{ name: "tests", log, pollMs, concurrency: maxActiveTests },
    claim: (limit) => claimTestDeliveries(db.sql, limit, newLease()),
    async processItem(claim) {
      const endpoint = await findEndpoint(claim.webhookId, claim.revision);
      const hostRate = endpoint && hostTokenBuckets(endpoint.url);
      if (!hostRate || hostRate.take(performance.now())) {
        await attemptDelivery(attemptServices, claim);
        // The next of its location may have waited for this one alone.
        testLoop.poll();
      }
      // To wait here would keep tests of other hosts waiting.
      else await releaseClaim({ ...claim, dueAt: new Date(nowMs() + hostRate.getWaitMs(performance.now())) });
    },
  });
  const recoveryLoop = startClaimLoop({
    ...{ name: "recoveries", log, pollMs, concurrency: 1 },
    async claim() {
      const webhookId = await db.transaction((tx) => recoverNextBatch(tx, clock()));
      return webhookId === undefined ? [] : [webhookId];
    },
    processItem: async (webhookId) => pollAllInstances([webhookId]),
  });

  function pollAllInstances(webhookIds: readonly string[]): void {
    scheduler.poll(webhookIds);
    for (let from = 0; from < webhookIds.length; from += maxIdsPerSignal) {
      notifier.publish("due", webhookIds.slice(from, from + maxIdsPerSignal).join(" "));
    }
  }
  notifier.subscribe((_, webhookIds) => scheduler.poll(webhookIds.split(" ")));
  const countActive = () => scheduler.activeCount;
  metrics.observeGauge("webhook_messages_under_way", "Messages that endpoints have not answered yet", countActive);
  const countOpenCircuits = () => scheduler.openCircuitCount;
  metrics.observeGauge(
    "webhook_endpoints_spared",
    "Endpoints that are sent a probe only, because they fail",
    countOpenCircuits,
  );

  return {
    ...{ scheduler, testLoop, recoveryLoop, pollAllInstances },
    async close() {
      attemptWriter.close();
      await Promise.all([scheduler.close(), testLoop.close(), recoveryLoop.close()]);
      await httpClient.close();
    },
  };
}
