import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { describe, expect, it } from "vitest";
import { createFakeDeliveries, type FakeDeliveries } from "../testing/fake-deliveries.ts";

const repeatTimes = (count: number, work: () => void) => {
  for (let time = 0; time < count; time += 1) work();
};
const waitForCompleted = (deliveries: FakeDeliveries, webhookId: string, count: number) =>
  eventually(`${count} deliveries to ${webhookId}`, () => deliveries.countCompleted(webhookId) === count);

describe("the queue of an endpoint", () => {
  it("has so many messages under way, and makes all in the end", async () => {
    const deliveries = createFakeDeliveries({ a: { durationMs: 5 } }, { concurrency: 8 });
    repeatTimes(200, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 200);
    expect(deliveries.maxActive("a")).toBe(8);
    // What waits is asked for a few at a time, not one by one.
    expect(deliveries.claimCount).toBeLessThan(110);
    await deliveries.scheduler.close();
  });

  it("keeps to its host's rate with all other endpoints of that host, and leaves other hosts alone", async () => {
    const noisy = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`n${index}`, { takes: 1, host: "n" }]));
    const deliveries = createFakeDeliveries(
      { ...noisy, other: { durationMs: 1 } },
      { concurrency: 20, hostRate: { perSecond: 100, burst: 40 } },
    );
    const since = performance.now();
    for (const webhookId of Object.keys(noisy)) repeatTimes(10, () => deliveries.addDue(webhookId));
    const madeToHost = () =>
      Object.keys(noisy).reduce((sum, webhookId) => sum + deliveries.countCompleted(webhookId), 0);
    await sleep(500);
    expect(madeToHost()).toBeGreaterThanOrEqual(40);
    expect(madeToHost()).toBeLessThanOrEqual(40 + ((performance.now() - since) / 1_000) * 100);
    repeatTimes(30, () => deliveries.addDue("other"));
    await waitForCompleted(deliveries, "other", 30);
    expect(madeToHost()).toBeLessThan(250);
    await eventually("all", () => madeToHost() === 300);
    const seconds = (performance.now() - since) / 1_000;
    expect(seconds).toBeGreaterThan(2.5);
    // Tokens that were taken for more than was due are not lost.
    expect(seconds).toBeLessThan(6);
    await deliveries.scheduler.close();
  });

  it("finds what it was not woken for, once it is woken", async () => {
    const deliveries = createFakeDeliveries({ a: { durationMs: 1 } }, { concurrency: 4 });
    repeatTimes(25, () => deliveries.addDueWithoutPoll("a"));
    deliveries.scheduler.poll(["a"]);
    await waitForCompleted(deliveries, "a", 25);
    await deliveries.scheduler.close();
  });

  it("reserves room for what is new, unless there is none or earlier messages wait", async () => {
    const deliveries = createFakeDeliveries({ a: { durationMs: 30 } }, { concurrency: 4 });
    const { scheduler } = deliveries;
    expect(scheduler.reserve("a")).toBeUndefined();
    deliveries.addDue("a");
    await waitForCompleted(deliveries, "a", 1);
    await eventually("nothing under way", () => scheduler.activeCount === 0);
    const reserved = [1, 2, 3, 4, 5].map(() => scheduler.reserve("a"));
    expect(reserved.map((each) => each !== undefined)).toEqual([true, true, true, true, false]);
    expect(scheduler.activeCount).toBe(4);
    for (const each of reserved) each?.cancel();
    expect(scheduler.activeCount).toBe(0);
    repeatTimes(20, () => deliveries.addDue("a"));
    await eventually("some to be under way", () => scheduler.activeCount === 4);
    expect(scheduler.reserve("a")).toBeUndefined();
    await waitForCompleted(deliveries, "a", 21);
    await scheduler.close();
  });

  it("goes on when the database is back", async () => {
    const deliveries = createFakeDeliveries({ a: { durationMs: 1 } });
    repeatTimes(3, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 3);
    deliveries.isDatabaseDown = true;
    repeatTimes(30, () => deliveries.addDue("a"));
    await sleep(50);
    deliveries.isDatabaseDown = false;
    await waitForCompleted(deliveries, "a", 33);
    await deliveries.scheduler.close();
  });

  it("sends a probe now and then to an endpoint that only fails, and everything once one arrives", async () => {
    const endpoints = { a: { durationMs: 0, shouldFail: true } };
    const deliveries = createFakeDeliveries(endpoints, { concurrency: 1 });
    repeatTimes(50, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 5);
    await sleep(50);
    expect(deliveries.countCompleted("a")).toBe(5);
    expect(deliveries.scheduler.openCircuitCount).toBe(1);
    for (const [pause, probes] of [
      [1_000, 6],
      [2_000, 7],
      [4_000, 8],
      [8_000, 9],
      [8_000, 10],
    ] as const) {
      deliveries.nowMs += pause;
      deliveries.scheduler.poll(["a"]);
      await waitForCompleted(deliveries, "a", probes);
      await sleep(30);
      expect(deliveries.countCompleted("a")).toBe(probes);
    }
    endpoints.a.shouldFail = false;
    deliveries.nowMs += 8_000;
    deliveries.scheduler.poll(["a"]);
    await waitForCompleted(deliveries, "a", 50);
    expect(deliveries.scheduler.openCircuitCount).toBe(0);
    await deliveries.scheduler.close();
  });

  it("finishes what is under way when it is closed, and begins nothing new", async () => {
    const deliveries = createFakeDeliveries({ a: { durationMs: 30 } }, { concurrency: 4 });
    repeatTimes(20, () => deliveries.addDue("a"));
    await eventually("some to be under way", () => deliveries.maxActive("a") === 4);
    await deliveries.scheduler.close();
    const made = deliveries.countCompleted("a");
    expect(made).toBeGreaterThanOrEqual(4);
    deliveries.addDue("a");
    await sleep(60);
    expect(deliveries.countCompleted("a")).toBe(made);
  });
});

describe("a healthy endpoint", () => {
  const createEndpoints = (count: number, endpoint: { takes: number; host?: string }) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`slow ${index}`, endpoint]));

  /** How long a message takes that is due while everybody else is busy, in milliseconds. */
  async function measureDelayMs(deliveries: FakeDeliveries, webhookId: string): Promise<number> {
    const since = performance.now();
    const before = deliveries.countCompleted(webhookId);
    deliveries.addDue(webhookId);
    await eventually("the healthy one to have it", () => deliveries.countCompleted(webhookId) === before + 1);
    return performance.now() - since;
  }

  it("waits for none of many slow ones, though they would take every place that there is", async () => {
    const slow = createEndpoints(8, { takes: 5_000 });
    const deliveries = createFakeDeliveries(
      { ...slow, healthy: { durationMs: 0 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(100, () => deliveries.addDue(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.activeCount).toBeGreaterThanOrEqual(40);
    for (const _ of [1, 2, 3]) expect(await measureDelayMs(deliveries, "healthy")).toBeLessThan(200);
  });

  it("gets many messages at their pace, though slow ones have taken every place before", async () => {
    const slow = createEndpoints(8, { takes: 5_000 });
    const deliveries = createFakeDeliveries(
      { ...slow, healthy: { durationMs: 10 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(100, () => deliveries.addDue(webhookId));
    await sleep(100);
    const since = performance.now();
    repeatTimes(100, () => deliveries.addDue("healthy"));
    await waitForCompleted(deliveries, "healthy", 100);
    expect(performance.now() - since).toBeLessThan(1_000);
    expect(deliveries.maxActive("healthy")).toBeGreaterThanOrEqual(5);
  });

  it("waits for none of a host with many endpoints", async () => {
    const slow = createEndpoints(40, { takes: 5_000, host: "dead.example" });
    const deliveries = createFakeDeliveries(
      { ...slow, healthy: { durationMs: 0 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(20, () => deliveries.addDue(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.activeCount).toBeLessThanOrEqual(20);
    expect(await measureDelayMs(deliveries, "healthy")).toBeLessThan(200);
  });
});
