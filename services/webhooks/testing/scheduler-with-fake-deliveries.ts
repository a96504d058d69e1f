import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@pragma/runtime/observability/logger";
import { WebhookDeliveryScheduler } from "../deliveries/delivery-scheduler.ts";
import { createHostTokenBuckets } from "../deliveries/endpoint-queue.ts";
import type { WebhookDeliveryClaim } from "../queries/claims.ts";

/** The behavior of an endpoint: how long an attempt takes, and whether it fails. */
export interface FakeWebhookEndpointBehavior {
  durationMs: number;
  shouldFail?: boolean;
  /** The host of the endpoint. By default, each endpoint has its own host. */
  host?: string;
}

/** Deliveries in memory, and a scheduler that sends them to fake endpoints. */
export interface FakeDeliveryScheduler {
  scheduler: WebhookDeliveryScheduler;
  /** Adds a due delivery, and makes the scheduler poll the deliveries of the webhook. */
  addDue(webhookId: string): void;
  /** Adds a due delivery without notifying the scheduler. */
  addDueWithoutPoll(webhookId: string): void;
  /** Returns the number of completed deliveries of a webhook. */
  countCompleted(webhookId: string): number;
  /** Returns the highest number of deliveries of a webhook that were in flight at the same time. */
  maxActive(webhookId: string): number;
  /** Number of times that the scheduler has tried to claim deliveries. */
  claimCount: number;
  /** Whether claiming fails, as it does while the database is unavailable. */
  isDatabaseDown: boolean;
  /** The scheduler's clock, in milliseconds. */
  nowMs: number;
}

export function createFakeDeliveryScheduler(
  endpoints: Record<string, FakeWebhookEndpointBehavior>,
  {
    concurrency = 100,
    hostRate = { perSecond: 100_000, burst: 100_000 },
    maxActiveMessages = 1_000,
  }: {
    concurrency?: number;
    maxActiveMessages?: number;
    hostRate?: { perSecond: number; burst: number };
  } = {},
): FakeDeliveryScheduler {
  const dueDeliveryIds = new Map<string, string[]>();
  const completedCounts = new Map<string, number>();
  const activeCounts = new Map<string, number>();
  const maxActiveCounts = new Map<string, number>();
  let count = 0;

  const createClaim = (webhookId: string, deliveryId: string): WebhookDeliveryClaim => ({
    deliveryId,
    locationId: webhookId,
    createdAt: new Date(),
    generation: 1,
    attempt: 1,
    webhookId,
    revision: 1,
    messageId: deliveryId,
    event: "order.paid",
    failures: 0,
    body: Buffer.from("{}"),
    traceparent: null,
    leaseExpiresAt: new Date(Date.now() + 30_000),
  });
  const addDueWithoutPoll = (webhookId: string): void => {
    count += 1;
    dueDeliveryIds.set(webhookId, [...(dueDeliveryIds.get(webhookId) ?? []), `${webhookId} ${count}`]);
  };

  const deliveries: FakeDeliveryScheduler = {
    scheduler: new WebhookDeliveryScheduler({
      limits: {
        maxConcurrency: concurrency,
        circuitBreaker: { failureThreshold: 5, initialOpenMs: 1_000, maxOpenMs: 8_000 },
      },
      maxActiveMessages,
      hostTokenBuckets: createHostTokenBuckets(hostRate),
      log: createLogger({ name: "test", level: "silent" }),
      pollMs: 60_000,
      nowMs: () => deliveries.nowMs,
      findEndpoint: async (webhookId) => ({
        locationId: webhookId,
        url: new URL(`https://${(endpoints[webhookId]?.host ?? webhookId).replaceAll(" ", "-")}/`),
      }),
      async claimDue(claimRequests) {
        deliveries.claimCount += 1;
        if (deliveries.isDatabaseDown) throw new Error("The database is unavailable.");
        return claimRequests.flatMap(({ webhookId, max }) =>
          (dueDeliveryIds.get(webhookId) ?? []).splice(0, max).map((id) => createClaim(webhookId, id)),
        );
      },
      async attemptDelivery({ webhookId }) {
        const activeCount = (activeCounts.get(webhookId) ?? 0) + 1;
        activeCounts.set(webhookId, activeCount);
        maxActiveCounts.set(webhookId, Math.max(activeCount, maxActiveCounts.get(webhookId) ?? 0));
        const { durationMs = 0, shouldFail = false } = endpoints[webhookId] ?? {};
        await sleep(durationMs);
        activeCounts.set(webhookId, (activeCounts.get(webhookId) ?? 0) - 1);
        completedCounts.set(webhookId, (completedCounts.get(webhookId) ?? 0) + 1);
        return shouldFail ? "failed" : "succeeded";
      },
    }),
    addDue(webhookId) {
      addDueWithoutPoll(webhookId);
      deliveries.scheduler.poll([webhookId]);
    },
    addDueWithoutPoll,
    countCompleted: (webhookId) => completedCounts.get(webhookId) ?? 0,
    maxActive: (webhookId) => maxActiveCounts.get(webhookId) ?? 0,
    claimCount: 0,
    isDatabaseDown: false,
    nowMs: 0,
  };
  return deliveries;
}
