import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { describe, expect, it } from "vitest";
import {
  createFakeDeliveryScheduler,
  type FakeDeliveryScheduler,
  type FakeWebhookEndpointBehavior,
} from "../testing/scheduler-with-fake-deliveries.ts";

const repeatTimes = (count: number, action: () => void) => {
  for (let index = 0; index < count; index += 1) action();
};
const createEndpoints = (
  count: number,
  endpoint: FakeWebhookEndpointBehavior,
): Record<string, FakeWebhookEndpointBehavior> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`endpoint ${index}`, endpoint]));
const waitForCompleted = (deliveries: FakeDeliveryScheduler, webhookId: string, count: number) =>
  eventually(`${count} deliveries to ${webhookId}`, () => deliveries.countCompleted(webhookId) === count);

describe("the scheduler", () => {
  it("never exceeds the concurrency limit of an endpoint, and completes all deliveries", async () => {
    const deliveries = createFakeDeliveryScheduler({ a: { durationMs: 5 } }, { concurrency: 8 });
    repeatTimes(200, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 200);
    expect(deliveries.maxActive("a")).toBe(8);
    // There are fewer claims than the 200 deliveries, because one claim can contain several waiting deliveries.
    expect(deliveries.claimCount).toBeLessThan(110);
    await deliveries.scheduler.close();
  });

  it("never exceeds the rate limit of a host across all of its endpoints, and does not delay other hosts", async () => {
    const busyHost = createEndpoints(30, { durationMs: 1, host: "busy.example" });
    const deliveries = createFakeDeliveryScheduler(
      { ...busyHost, other: { durationMs: 1 } },
      { concurrency: 20, hostRate: { perSecond: 100, burst: 40 } },
    );
    const startedAt = performance.now();
    for (const webhookId of Object.keys(busyHost)) repeatTimes(10, () => deliveries.addDue(webhookId));
    const countCompletedAtBusyHost = () =>
      Object.keys(busyHost).reduce((sum, webhookId) => sum + deliveries.countCompleted(webhookId), 0);
    await sleep(500);
    expect(countCompletedAtBusyHost()).toBeGreaterThanOrEqual(40);
    expect(countCompletedAtBusyHost()).toBeLessThanOrEqual(40 + ((performance.now() - startedAt) / 1_000) * 100);
    repeatTimes(30, () => deliveries.addDue("other"));
    await waitForCompleted(deliveries, "other", 30);
    expect(countCompletedAtBusyHost()).toBeLessThan(250);
    await eventually("all deliveries", () => countCompletedAtBusyHost() === 300);
    const seconds = (performance.now() - startedAt) / 1_000;
    expect(seconds).toBeGreaterThan(2.5);
    // A claim that returns fewer deliveries than requested refunds the unused tokens, so they cause no further delay.
    expect(seconds).toBeLessThan(6);
    await deliveries.scheduler.close();
  });

  it("finds earlier deliveries of a webhook at its next poll", async () => {
    const deliveries = createFakeDeliveryScheduler({ a: { durationMs: 1 } }, { concurrency: 4 });
    repeatTimes(25, () => deliveries.addDueWithoutPoll("a"));
    deliveries.scheduler.poll(["a"]);
    await waitForCompleted(deliveries, "a", 25);
    await deliveries.scheduler.close();
  });

  it("reserves capacity for new messages, unless the endpoint has no capacity left or earlier messages wait", async () => {
    const deliveries = createFakeDeliveryScheduler({ a: { durationMs: 30 } }, { concurrency: 4 });
    const { scheduler } = deliveries;
    expect(scheduler.reserve("a")).toBeUndefined();
    deliveries.addDue("a");
    await waitForCompleted(deliveries, "a", 1);
    await eventually("no message in flight", () => scheduler.activeCount === 0);
    const reservations = [1, 2, 3, 4, 5].map(() => scheduler.reserve("a"));
    expect(reservations.map((reservation) => reservation !== undefined)).toEqual([true, true, true, true, false]);
    expect(scheduler.activeCount).toBe(4);
    for (const reservation of reservations) reservation?.cancel();
    expect(scheduler.activeCount).toBe(0);
    repeatTimes(20, () => deliveries.addDue("a"));
    await eventually("four messages in flight", () => scheduler.activeCount === 4);
    expect(scheduler.reserve("a")).toBeUndefined();
    await waitForCompleted(deliveries, "a", 21);
    await scheduler.close();
  });

  it("continues when the database is available again", async () => {
    const deliveries = createFakeDeliveryScheduler({ a: { durationMs: 1 } });
    repeatTimes(3, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 3);
    deliveries.isDatabaseDown = true;
    repeatTimes(30, () => deliveries.addDue("a"));
    await sleep(50);
    deliveries.isDatabaseDown = false;
    await waitForCompleted(deliveries, "a", 33);
    await deliveries.scheduler.close();
  });

  it("sends only probes to a failing endpoint, and all messages after the first success", async () => {
    const endpoints = { a: { durationMs: 0, shouldFail: true } };
    const deliveries = createFakeDeliveryScheduler(endpoints, { concurrency: 1 });
    repeatTimes(50, () => deliveries.addDue("a"));
    await waitForCompleted(deliveries, "a", 5);
    await sleep(50);
    expect(deliveries.countCompleted("a")).toBe(5);
    expect(deliveries.scheduler.openCircuitCount).toBe(1);
    for (const [openMs, completed] of [
      [1_000, 6],
      [2_000, 7],
      [4_000, 8],
      [8_000, 9],
      [8_000, 10],
    ] as const) {
      deliveries.nowMs += openMs;
      deliveries.scheduler.poll(["a"]);
      await waitForCompleted(deliveries, "a", completed);
      await sleep(30);
      expect(deliveries.countCompleted("a")).toBe(completed);
    }
    endpoints.a.shouldFail = false;
    deliveries.nowMs += 8_000;
    deliveries.scheduler.poll(["a"]);
    await waitForCompleted(deliveries, "a", 50);
    expect(deliveries.scheduler.openCircuitCount).toBe(0);
    await deliveries.scheduler.close();
  });

  it("finishes attempts in flight when it is closed, and starts no other attempts", async () => {
    const deliveries = createFakeDeliveryScheduler({ a: { durationMs: 30 } }, { concurrency: 4 });
    repeatTimes(20, () => deliveries.addDue("a"));
    await eventually("four messages in flight", () => deliveries.maxActive("a") === 4);
    await deliveries.scheduler.close();
    const completed = deliveries.countCompleted("a");
    expect(completed).toBeGreaterThanOrEqual(4);
    deliveries.addDue("a");
    await sleep(60);
    expect(deliveries.countCompleted("a")).toBe(completed);
  });
});

describe("a healthy endpoint", () => {
  /** Adds a due delivery, waits until it is completed, and returns the elapsed time in milliseconds. */
  async function measureDelayMs(deliveries: FakeDeliveryScheduler, webhookId: string): Promise<number> {
    const startedAt = performance.now();
    const completed = deliveries.countCompleted(webhookId);
    deliveries.addDue(webhookId);
    await eventually("the delivery", () => deliveries.countCompleted(webhookId) === completed + 1);
    return performance.now() - startedAt;
  }

  it("does not wait for slow endpoints whose messages would use all permits", async () => {
    const slow = createEndpoints(8, { durationMs: 5_000 });
    const deliveries = createFakeDeliveryScheduler(
      { ...slow, healthy: { durationMs: 0 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(100, () => deliveries.addDue(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.activeCount).toBeGreaterThanOrEqual(40);
    for (const _ of [1, 2, 3]) expect(await measureDelayMs(deliveries, "healthy")).toBeLessThan(200);
  });

  it("receives many messages without delay after slow endpoints have taken all permits", async () => {
    const slow = createEndpoints(8, { durationMs: 5_000 });
    const deliveries = createFakeDeliveryScheduler(
      { ...slow, healthy: { durationMs: 10 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(100, () => deliveries.addDue(webhookId));
    await sleep(100);
    const startedAt = performance.now();
    repeatTimes(100, () => deliveries.addDue("healthy"));
    await waitForCompleted(deliveries, "healthy", 100);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(deliveries.maxActive("healthy")).toBeGreaterThanOrEqual(5);
  });

  it("does not wait for the many endpoints of one slow host", async () => {
    const slow = createEndpoints(40, { durationMs: 5_000, host: "slow.example" });
    const deliveries = createFakeDeliveryScheduler(
      { ...slow, healthy: { durationMs: 0 } },
      { concurrency: 20, maxActiveMessages: 50 },
    );
    for (const webhookId of Object.keys(slow)) repeatTimes(20, () => deliveries.addDue(webhookId));
    await sleep(100);
    expect(deliveries.scheduler.activeCount).toBeLessThanOrEqual(20);
    expect(await measureDelayMs(deliveries, "healthy")).toBeLessThan(200);
  });
});
