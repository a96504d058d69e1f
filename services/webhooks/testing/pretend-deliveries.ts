import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@pragma/runtime/logger";
import { openHostRates } from "../delivering/endpoint-queue.ts";
import { Scheduler } from "../delivering/scheduler.ts";
import type { Claim } from "../queries/claims.ts";

/** How an endpoint does: how long it takes, in milliseconds, and whether it then fails. */
export interface PretendEndpoint {
  takes: number;
  fails?: boolean;
  /** Its own unless given. */
  host?: string;
}

/** Deliveries that are kept in memory, and a scheduler that has them made. */
export interface PretendDeliveries {
  scheduler: Scheduler;
  /** Makes a delivery due, and wakes the scheduler. */
  due(webhookId: string): void;
  /** The same without waking it. */
  dueUnannounced(webhookId: string): void;
  /** How many were made, of a webhook. */
  made(webhookId: string): number;
  /** The most that were under way at once, to a webhook. */
  most(webhookId: string): number;
  /** How often was claimed. */
  claims: number;
  /** Whether claiming fails, as it does while the database is away. */
  isAway: boolean;
  /** Milliseconds, of the scheduler's clock. */
  now: number;
}

export function pretendDeliveries(
  endpoints: Record<string, PretendEndpoint>,
  {
    concurrency = 100,
    hostRate = { perSecond: 100_000, burst: 100_000 },
    places = 1_000,
    rate = 10_000,
  }: {
    concurrency?: number;
    places?: number;
    rate?: number;
    hostRate?: { perSecond: number; burst: number };
  } = {},
): PretendDeliveries {
  const waiting = new Map<string, string[]>();
  const made = new Map<string, number>();
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  let count = 0;

  const claimOf = (webhookId: string, deliveryId: string): Claim => ({
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
    lapsesAt: new Date(Date.now() + 30_000),
  });
  const add = (webhookId: string): void => {
    count += 1;
    waiting.set(webhookId, [...(waiting.get(webhookId) ?? []), `${webhookId} ${count}`]);
  };

  const deliveries: PretendDeliveries = {
    scheduler: new Scheduler({
      limits: { concurrency, perSecond: rate, circuit: { failures: 5, firstMs: 1_000, maxMs: 8_000 } },
      concurrency: places,
      hostRates: openHostRates(hostRate),
      log: createLogger({ name: "test", level: "silent" }),
      pollMs: 60_000,
      now: () => deliveries.now,
      findUrl: async (webhookId) =>
        new URL(`https://${(endpoints[webhookId]?.host ?? webhookId).replaceAll(" ", "-")}/`),
      async claimDue(pulls) {
        deliveries.claims += 1;
        if (deliveries.isAway) throw new Error("away");
        return pulls.flatMap(({ webhookId, max }) =>
          (waiting.get(webhookId) ?? []).splice(0, max).map((id) => claimOf(webhookId, id)),
        );
      },
      async deliver({ webhookId }) {
        const now = (underWay.get(webhookId) ?? 0) + 1;
        underWay.set(webhookId, now);
        most.set(webhookId, Math.max(now, most.get(webhookId) ?? 0));
        const { takes = 0, fails = false } = endpoints[webhookId] ?? {};
        await sleep(takes);
        underWay.set(webhookId, (underWay.get(webhookId) ?? 0) - 1);
        made.set(webhookId, (made.get(webhookId) ?? 0) + 1);
        return fails ? "failed" : "succeeded";
      },
    }),
    due(webhookId) {
      add(webhookId);
      deliveries.scheduler.wake([webhookId]);
    },
    dueUnannounced: add,
    made: (webhookId) => made.get(webhookId) ?? 0,
    most: (webhookId) => most.get(webhookId) ?? 0,
    claims: 0,
    isAway: false,
    now: 0,
  };
  return deliveries;
}
