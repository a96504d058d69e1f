import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { describe, expect, it } from "vitest";
import { type PretendDeliveries, pretendDeliveries } from "../testing/pretend-deliveries.ts";

const times = (count: number, work: () => void) => {
  for (let time = 0; time < count; time += 1) work();
};
const whenMade = (deliveries: PretendDeliveries, webhookId: string, count: number) =>
  eventually(`${count} deliveries to ${webhookId}`, () => deliveries.made(webhookId) === count);

describe("the queue of an endpoint", () => {
  it("has so many messages under way, and makes all in the end", async () => {
    const deliveries = pretendDeliveries({ a: { takes: 5 } }, { concurrency: 8 });
    times(200, () => deliveries.due("a"));
    await whenMade(deliveries, "a", 200);
    expect(deliveries.most("a")).toBe(8);
    // What waits is asked for a few at a time, not one by one.
    expect(deliveries.claims).toBeLessThan(110);
    await deliveries.scheduler.close();
  });

  it("keeps to its host's rate with all other endpoints of that host, and leaves other hosts alone", async () => {
    const noisy = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`n${index}`, { takes: 1, host: "n" }]));
    const deliveries = pretendDeliveries(
      { ...noisy, other: { takes: 1 } },
      { concurrency: 20, hostRate: { perSecond: 100, burst: 40 } },
    );
    const since = performance.now();
    for (const webhookId of Object.keys(noisy)) times(10, () => deliveries.due(webhookId));
    const madeToHost = () => Object.keys(noisy).reduce((sum, webhookId) => sum + deliveries.made(webhookId), 0);
    await sleep(500);
    expect(madeToHost()).toBeGreaterThanOrEqual(40);
    expect(madeToHost()).toBeLessThanOrEqual(40 + ((performance.now() - since) / 1_000) * 100);
    times(30, () => deliveries.due("other"));
    await whenMade(deliveries, "other", 30);
    expect(madeToHost()).toBeLessThan(250);
    await eventually("all", () => madeToHost() === 300);
    const seconds = (performance.now() - since) / 1_000;
    expect(seconds).toBeGreaterThan(2.5);
    // Tokens that were taken for more than was due are not lost.
    expect(seconds).toBeLessThan(6);
    await deliveries.scheduler.close();
  });

  it("finds what it was not woken for, once it is woken", async () => {
    const deliveries = pretendDeliveries({ a: { takes: 1 } }, { concurrency: 4 });
    times(25, () => deliveries.dueUnannounced("a"));
    deliveries.scheduler.wake(["a"]);
    await whenMade(deliveries, "a", 25);
    await deliveries.scheduler.close();
  });

  it("reserves room for what is new, unless there is none or earlier messages wait", async () => {
    const deliveries = pretendDeliveries({ a: { takes: 30 } }, { concurrency: 4 });
    const { scheduler } = deliveries;
    expect(scheduler.reserve("a")).toBeUndefined();
    deliveries.due("a");
    await whenMade(deliveries, "a", 1);
    await eventually("nothing under way", () => scheduler.active === 0);
    const reserved = [1, 2, 3, 4, 5].map(() => scheduler.reserve("a"));
    expect(reserved.map((each) => each !== undefined)).toEqual([true, true, true, true, false]);
    expect(scheduler.active).toBe(4);
    for (const each of reserved) each?.cancel();
    expect(scheduler.active).toBe(0);
    times(20, () => deliveries.due("a"));
    await eventually("some to be under way", () => scheduler.active === 4);
    expect(scheduler.reserve("a")).toBeUndefined();
    await whenMade(deliveries, "a", 21);
    await scheduler.close();
  });

  it("goes on when the database is back", async () => {
    const deliveries = pretendDeliveries({ a: { takes: 1 } });
    times(3, () => deliveries.due("a"));
    await whenMade(deliveries, "a", 3);
    deliveries.isAway = true;
    times(30, () => deliveries.due("a"));
    await sleep(50);
    deliveries.isAway = false;
    await whenMade(deliveries, "a", 33);
    await deliveries.scheduler.close();
  });

  it("sends a probe now and then to an endpoint that only fails, and everything once one arrives", async () => {
    const endpoints = { a: { takes: 0, fails: true } };
    const deliveries = pretendDeliveries(endpoints, { concurrency: 1 });
    times(50, () => deliveries.due("a"));
    await whenMade(deliveries, "a", 5);
    await sleep(50);
    expect(deliveries.made("a")).toBe(5);
    expect(deliveries.scheduler.spared).toBe(1);
    for (const [pause, probes] of [
      [1_000, 6],
      [2_000, 7],
      [4_000, 8],
      [8_000, 9],
      [8_000, 10],
    ] as const) {
      deliveries.now += pause;
      deliveries.scheduler.wake(["a"]);
      await whenMade(deliveries, "a", probes);
      await sleep(30);
      expect(deliveries.made("a")).toBe(probes);
    }
    endpoints.a.fails = false;
    deliveries.now += 8_000;
    deliveries.scheduler.wake(["a"]);
    await whenMade(deliveries, "a", 50);
    expect(deliveries.scheduler.spared).toBe(0);
    await deliveries.scheduler.close();
  });

  it("finishes what is under way when it is closed, and begins nothing new", async () => {
    const deliveries = pretendDeliveries({ a: { takes: 30 } }, { concurrency: 4 });
    times(20, () => deliveries.due("a"));
    await eventually("some to be under way", () => deliveries.most("a") === 4);
    await deliveries.scheduler.close();
    const made = deliveries.made("a");
    expect(made).toBeGreaterThanOrEqual(4);
    deliveries.due("a");
    await sleep(60);
    expect(deliveries.made("a")).toBe(made);
  });
});

describe("a healthy endpoint", () => {
  const crowd = (count: number, endpoint: { takes: number; host?: string }) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`slow ${index}`, endpoint]));

  /** How long a message takes that is due while everybody else is busy, in milliseconds. */
  async function delayOf(deliveries: PretendDeliveries, webhookId: string): Promise<number> {
    const since = performance.now();
    const before = deliveries.made(webhookId);
    deliveries.due(webhookId);
    await eventually("the healthy one to have it", () => deliveries.made(webhookId) === before + 1);
    return performance.now() - since;
  }

  it("waits for none of many slow ones, though they would take every place that there is", async () => {
    const slow = crowd(8, { takes: 5_000 });
    const deliveries = pretendDeliveries({ ...slow, healthy: { takes: 0 } }, { concurrency: 20, places: 50 });
    for (const webhookId of Object.keys(slow)) times(100, () => deliveries.due(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.active).toBeGreaterThanOrEqual(40);
    for (const _ of [1, 2, 3]) expect(await delayOf(deliveries, "healthy")).toBeLessThan(200);
  });

  it("gets many messages at their pace, though slow ones have taken every place before", async () => {
    const slow = crowd(8, { takes: 5_000 });
    const deliveries = pretendDeliveries({ ...slow, healthy: { takes: 10 } }, { concurrency: 20, places: 50 });
    for (const webhookId of Object.keys(slow)) times(100, () => deliveries.due(webhookId));
    await sleep(100);
    const since = performance.now();
    times(100, () => deliveries.due("healthy"));
    await whenMade(deliveries, "healthy", 100);
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(deliveries.most("healthy")).toBeGreaterThanOrEqual(5);
  });

  it("waits for none of a host with many endpoints", async () => {
    const slow = crowd(40, { takes: 5_000, host: "dead.example" });
    const deliveries = pretendDeliveries({ ...slow, healthy: { takes: 0 } }, { concurrency: 20, places: 50 });
    for (const webhookId of Object.keys(slow)) times(20, () => deliveries.due(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.active).toBeLessThanOrEqual(20);
    expect(await delayOf(deliveries, "healthy")).toBeLessThan(200);
  });
});
