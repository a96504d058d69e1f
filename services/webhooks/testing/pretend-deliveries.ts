import { setTimeout as sleep } from "node:timers/promises";
import { HostRates } from "../delivering/host-rates.ts";
import type { LaneLimits } from "../delivering/lane.ts";
import { Lanes } from "../delivering/lanes.ts";
import type { AttemptName, Claim } from "../queries/claims.ts";

/** How an endpoint does: how long it takes, in milliseconds, and whether it then fails. */
export interface PretendEndpoint {
  takes: number;
  fails?: boolean;
  /** Its own unless given. */
  origin?: string;
}

/** Deliveries that are kept in memory, and lanes that make them. */
export interface PretendDeliveries {
  lanes: Lanes;
  /** Makes a delivery due, and offers it to its lane as a job does. */
  due(webhookId: string): void;
  /** The same without offering it: only whoever looks finds it. */
  dueUnannounced(webhookId: string): void;
  /** How many were made, of a webhook. */
  made(webhookId: string): number;
  /** The most that were under way at once, to a webhook. */
  most(webhookId: string): number;
  /** How often what is due was asked for. */
  fetches: number;
  /** Whether asking fails, as it does while the database is away. */
  isAway: boolean;
  /** Milliseconds, of the lanes' clock. */
  now: number;
}

export function pretendDeliveries(
  endpoints: Record<string, PretendEndpoint>,
  {
    concurrency = 100,
    hostRate = { rate: 100_000, burst: 100_000 },
    ...limits
  }: Partial<LaneLimits> & { places?: number; hostRate?: { rate: number; burst: number } } = {},
): PretendDeliveries {
  const waiting = new Map<string, AttemptName[]>();
  const made = new Map<string, number>();
  const underWay = new Map<string, number>();
  const most = new Map<string, number>();
  let count = 0;

  const claimOf = (webhookId: string, name: AttemptName): Claim => ({
    ...name,
    webhookId,
    revision: 1,
    messageId: name.deliveryId,
    event: "order.paid",
    failures: 0,
  });
  const add = (webhookId: string): AttemptName => {
    count += 1;
    const name = { deliveryId: `${webhookId} ${count}`, generation: 1, attempt: 1 };
    waiting.set(webhookId, [...(waiting.get(webhookId) ?? []), name]);
    return name;
  };

  const deliveries: PretendDeliveries = {
    lanes: new Lanes({
      limits: { concurrency, rate: 10_000, circuit: { failures: 5, first: 1_000, longest: 8_000 }, ...limits },
      concurrency: limits.places ?? 1_000,
      now: () => deliveries.now,
      hostRates: new HostRates(hostRate),
      async destinationOf(webhookId) {
        const origin = endpoints[webhookId]?.origin ?? webhookId;
        return { origin, host: origin };
      },
      work: {
        async claim(name) {
          if (deliveries.isAway) throw new Error("away");
          for (const [webhookId, names] of waiting) {
            const index = names.findIndex(({ deliveryId }) => deliveryId === name.deliveryId);
            if (index === -1) continue;
            names.splice(index, 1);
            return claimOf(webhookId, name);
          }
          return undefined;
        },
        async claimDue(webhookId, limit) {
          deliveries.fetches += 1;
          if (deliveries.isAway) throw new Error("away");
          return (waiting.get(webhookId) ?? []).splice(0, limit).map((name) => claimOf(webhookId, name));
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
      },
    }),
    due(webhookId) {
      deliveries.lanes.offer(webhookId, add(webhookId));
    },
    dueUnannounced: add,
    made: (webhookId) => made.get(webhookId) ?? 0,
    most: (webhookId) => most.get(webhookId) ?? 0,
    fetches: 0,
    isAway: false,
    now: 0,
  };
  return deliveries;
}
