import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@pragma/runtime/observability/logger";
import { DeliveryScheduler } from "../deliveries/delivery-scheduler.ts";
import { createHostTokenBuckets } from "../deliveries/host-token-buckets.ts";
import type { DeliveryClaim } from "../queries/claims.ts";

/** How an endpoint does: how long it takes, in milliseconds, and whether it then fails. */
export interface FakeEndpoint {
  durationMs: number;
  shouldFail?: boolean;
  /** Its own unless given. */
  host?: string;
}

/** Deliveries that are kept in memory, and a scheduler that has them made. */
export interface FakeDeliveries {
  scheduler: DeliveryScheduler;
  /** Makes a delivery due, and wakes the scheduler. */
  addDue(webhookId: string): void;
  /** The same without waking it. */
  addDueWithoutPoll(webhookId: string): void;
  /** How many were made, of a webhook. */
  countCompleted(webhookId: string): number;
  /** The most that were under way at once, to a webhook. */
  maxActive(webhookId: string): number;
  /** How often was claimed. */
  claimCount: number;
  /** Whether claiming fails, as it does while the database is away. */
  isDatabaseDown: boolean;
  /** Milliseconds, of the scheduler's clock. */
  nowMs: number;
}

export function createFakeDeliveries(
  endpoints: Record<string, FakeEndpoint>,
  {
    concurrency = 100,
    hostRate = { perSecond: 100_000, burst: 100_000 },
    places: maxActiveMessages = 1_000,
  }: {
    concurrency?: number;
    places?: number;
    hostRate?: { perSecond: number; burst: number };
  } = {},
): FakeDeliveries {
  const waiting = new Map<string, string[]>();
  const completedCounts = new Map<string, number>();
  const activeCounts = new Map<string, number>();
  const maxActiveCounts = new Map<string, number>();
  let count = 0;

  const createClaim = (webhookId: string, deliveryId: string): DeliveryClaim => ({
    deliveryId,
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
  const add = (webhookId: string): void => {
    count += 1;
    waiting.set(webhookId, [...(waiting.get(webhookId) ?? []), `${webhookId} ${count}`]);
  };

  const deliveries: FakeDeliveries = {
    scheduler: new DeliveryScheduler({
      limits: {
        maxConcurrency: concurrency,
        circuitBreaker: { failureThreshold: 5, initialOpenMs: 1_000, maxOpenMs: 8_000 },
      },
      maxActiveMessages: maxActiveMessages,
      hostTokenBuckets: createHostTokenBuckets(hostRate),
      log: createLogger({ name: "test", level: "silent" }),
      pollMs: 60_000,
      nowMs: () => deliveries.nowMs,
      findUrl: async (webhookId) =>
        new URL(`https://${(endpoints[webhookId]?.host ?? webhookId).replaceAll(" ", "-")}/`),
      async claimDue(pulls) {
        deliveries.claimCount += 1;
        if (deliveries.isDatabaseDown) throw new Error("away");
        return pulls.flatMap(({ webhookId, max }) =>
          (waiting.get(webhookId) ?? []).splice(0, max).map((id) => createClaim(webhookId, id)),
        );
      },
      async attemptDelivery({ webhookId }) {
        const now = (activeCounts.get(webhookId) ?? 0) + 1;
        activeCounts.set(webhookId, now);
        maxActiveCounts.set(webhookId, Math.max(now, maxActiveCounts.get(webhookId) ?? 0));
        const { durationMs = 0, shouldFail = false } = endpoints[webhookId] ?? {};
        await sleep(durationMs);
        activeCounts.set(webhookId, (activeCounts.get(webhookId) ?? 0) - 1);
        completedCounts.set(webhookId, (completedCounts.get(webhookId) ?? 0) + 1);
        return shouldFail ? "failed" : "succeeded";
      },
    }),
    addDue(webhookId) {
      add(webhookId);
      deliveries.scheduler.poll([webhookId]);
    },
    addDueWithoutPoll: add,
    countCompleted: (webhookId) => completedCounts.get(webhookId) ?? 0,
    maxActive: (webhookId) => maxActiveCounts.get(webhookId) ?? 0,
    claimCount: 0,
    isDatabaseDown: false,
    nowMs: 0,
  };
  return deliveries;
}
