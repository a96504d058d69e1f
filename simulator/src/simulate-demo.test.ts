import { createApiClient } from "@pragma/client/api-client";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { describe, expect, it } from "vitest";
import { demoRestaurantSeed } from "./demo-location.ts";
import { generateRestaurant } from "./restaurant.ts";
import { runDemoLocationSimulation } from "./simulate-demo.ts";
import { copyOrderAsOtherDevice, FakeClock, FakePragmaApi } from "./testing/fake-pragma-api.ts";
import { createRetryOptions } from "./transient-retry-options.ts";

const locationId = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const hourMs = 3_600_000;
const morning = Date.parse("2026-11-20T09:13:20.000Z");

/** Simulates the demo on a fake clock for this number of hours, and returns the lines of its log. */
async function simulateHours(
  fake: FakePragmaApi,
  clock: FakeClock,
  hours: number,
  onTick = () => {},
): Promise<string[]> {
  const stop = new AbortController();
  const stopAtMs = clock.time + hours * hourMs;
  const lines: string[] = [];
  clock.onTick = () => {
    onTick();
    if (clock.time >= stopAtMs) stop.abort(new Error("stopped"));
  };
  const control = { clock, signal: stop.signal, log: (line: string) => void lines.push(line) };
  const context = {
    ...control,
    api: createApiClient({
      baseUrl: "http://localhost:4000",
      apiKey: "key",
      ...createRetryOptions({ ...control, fetch: fake.fetch }),
    }),
    restaurant: generateRestaurant(demoRestaurantSeed),
    locationId,
    // One call per simulated minute. With few calls, the test is fast.
    maxCallsPerSecond: 1 / 60,
  };
  await expect(runDemoLocationSimulation(context)).rejects.toThrow("stopped");
  return lines;
}

function salesOf(orders: readonly PosOrderData[]): number {
  return orders
    .filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred)
    .reduce((sum, { total }) => sum + total, 0);
}

describe("the demo's live orders", () => {
  it("change all day, end in consecutive tills, and do not accumulate", async () => {
    const [fake, clock] = [new FakePragmaApi(), new FakeClock(morning)];
    await simulateHours(fake, clock, 24);
    // Six shifts of two hours each, and one shift of twelve hours.
    expect(fake.tills).toHaveLength(7);
    expect(fake.maxLiveOrders).toBeLessThanOrEqual(100);
    for (const [index, till] of fake.tills.entries()) {
      expect(till.orderList).toHaveLength(100);
      expect(till.reportNumber).toBe(index + 1);
      expect(till.startedAt >= (fake.tills[index - 1]?.finalizedAt ?? "")).toBe(true);
    }
  }, 60_000);

  it("continue the same till when the simulation restarts soon after an interruption", async () => {
    const [fake, clock] = [new FakePragmaApi(), new FakeClock(morning)];
    await simulateHours(fake, clock, 0.5);
    const [before] = [...fake.liveOrders.values()];
    clock.time += 0.25 * hourMs;
    await simulateHours(fake, clock, 0.5);
    const tillIds = new Set(
      [...fake.liveOrders.values(), ...fake.tills].map((each) => ("tillId" in each ? each.tillId : each.id)),
    );
    expect([...tillIds]).toEqual([before?.tillId]);
    await simulateHours(fake, clock, 1);
    expect(fake.tills[0]?.id).toBe(before?.tillId);
    expect(fake.tills[0]?.orderList).toHaveLength(100);
  }, 30_000);

  it("are closed in their own till when the simulation restarts the next day, unlike the orders of other devices", async () => {
    const [fake, clock] = [new FakePragmaApi(), new FakeClock(morning)];
    await simulateHours(fake, clock, 0.5);
    const interruptedOrders = [...fake.liveOrders.values()];
    const others = interruptedOrders.slice(0, 2).map(copyOrderAsOtherDevice);
    for (const order of others) fake.liveOrders.set(order.id, order);
    clock.time += 20 * hourMs;
    const lines = await simulateHours(fake, clock, 0.1);
    expect(lines[0]).toContain("Closed an interrupted till");
    const [till] = fake.tills;
    expect(till?.orderList.map(({ id }) => id).toSorted()).toEqual(interruptedOrders.map(({ id }) => id).toSorted());
    expect(salesOf(till?.orderList ?? [])).toBe(salesOf(interruptedOrders.map(({ data }) => data)));
    expect(till?.orderList.every(({ closedAt, leftToPay }) => closedAt !== null && leftToPay <= 0)).toBe(true);
    expect(others.every(({ id }) => fake.liveOrders.has(id))).toBe(true);
    expect([...fake.liveOrders.values()].some(({ tillId }) => tillId === till?.id)).toBe(false);
  }, 30_000);

  it("continue after an API outage, and after a rejected request", async () => {
    const [fake, clock] = [new FakePragmaApi(), new FakeClock(morning)];
    let ticks = 0;
    const lines = await simulateHours(fake, clock, 2.5, () => {
      ticks += 1;
      if (ticks === 20) fake.nextErrors = Array(60).fill("unreachable");
      if (ticks === 60) fake.nextErrors = ["scope_missing"];
    });
    expect(lines).toContainEqual(expect.stringContaining("is unavailable, retrying"));
    expect(lines).toContain("The API is available again");
    expect(lines).toContainEqual(expect.stringContaining("Retrying in half a minute"));
    expect(fake.tills[0]?.orderList).toHaveLength(100);
  }, 30_000);

  it("start again after the machine was suspended, and close the till of the day before", async () => {
    const [fake, clock] = [new FakePragmaApi(), new FakeClock(morning)];
    let hasSlept = false;
    await simulateHours(fake, clock, 11, () => {
      if (hasSlept || fake.revisionCount < 100) return;
      hasSlept = true;
      clock.time += 9 * hourMs;
    });
    expect(fake.tills[0]?.orderList).toHaveLength(100);
    const [liveOrder] = [...fake.liveOrders.values()];
    expect(Date.parse(liveOrder?.data.openedAt ?? "")).toBeGreaterThan(morning + 8.5 * hourMs);
  }, 30_000);
});
