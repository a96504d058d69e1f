import { createApiClient } from "@pragma/client/api-client";
import type { OrderData } from "@pragma/contracts/order-data";
import { describe, expect, it } from "vitest";
import { demoRestaurantSeed, demoTimeZone } from "./demo-location.ts";
import { generateRestaurant } from "./restaurant.ts";
import { simulateDemo } from "./simulate-demo.ts";
import { createOtherDeviceOrder, FakeClock, FakeLiveApi } from "./testing/fake-live-api.ts";
import { createTransientRetryOptions } from "./transient-retry-options.ts";

const locationId = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const hour = 3_600_000;
const morning = Date.parse("2026-11-20T09:13:20.000Z");

/** Plays the demo on a clock of its own for so many hours. */
async function play(fake: FakeLiveApi, clock: FakeClock, hours: number, onTick = () => {}): Promise<string[]> {
  const stop = new AbortController();
  const until = clock.time + hours * hour;
  const lines: string[] = [];
  clock.onTick = () => {
    onTick();
    if (clock.time >= until) stop.abort(new Error("enough"));
  };
  const control = { clock, signal: stop.signal, log: (line: string) => void lines.push(line) };
  const context = {
    ...control,
    api: createApiClient({
      baseUrl: "http://localhost:4000",
      apiKey: "key",
      ...createTransientRetryOptions({ ...control, fetch: fake.fetch }),
    }),
    restaurant: generateRestaurant(demoRestaurantSeed),
    timeZone: demoTimeZone,
    locationId,
    // A call a minute instead of one for each change, to have fewer of them.
    rate: 1 / 60,
  };
  await expect(simulateDemo(context)).rejects.toThrow("enough");
  return lines;
}

function salesOf(orders: readonly OrderData[]): number {
  return orders
    .filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred)
    .reduce((sum, { total }) => sum + total, 0);
}

describe("the demo's live orders", () => {
  it("move all day, end in tills that follow one another, and do not pile up", async () => {
    const [fake, clock] = [new FakeLiveApi(), new FakeClock(morning)];
    await play(fake, clock, 24);
    // Six shifts of two hours and one of twelve.
    expect(fake.tills).toHaveLength(7);
    expect(fake.maxLive).toBeLessThanOrEqual(100);
    for (const [index, till] of fake.tills.entries()) {
      expect(till.orderList).toHaveLength(100);
      expect(till.reportNumber).toBe(index + 1);
      expect(till.startedAt >= (fake.tills[index - 1]?.finalizedAt ?? "")).toBe(true);
    }
  }, 60_000);

  it("go on where they were when the play is broken off and begins again soon", async () => {
    const [fake, clock] = [new FakeLiveApi(), new FakeClock(morning)];
    await play(fake, clock, 0.5);
    const [before] = [...fake.live.values()];
    clock.time += 0.25 * hour;
    await play(fake, clock, 0.5);
    const tillIds = new Set(
      [...fake.live.values(), ...fake.tills].map((each) => ("tillId" in each ? each.tillId : each.id)),
    );
    expect([...tillIds]).toEqual([before?.tillId]);
    await play(fake, clock, 1);
    expect(fake.tills[0]?.id).toBe(before?.tillId);
    expect(fake.tills[0]?.orderList).toHaveLength(100);
  }, 30_000);

  it("are closed with a till of their own when it begins again the next day, and other devices' orders stay", async () => {
    const [fake, clock] = [new FakeLiveApi(), new FakeClock(morning)];
    await play(fake, clock, 0.5);
    const left = [...fake.live.values()];
    const others = left.slice(0, 2).map(createOtherDeviceOrder);
    for (const order of others) fake.live.set(order.id, order);
    clock.time += 20 * hour;
    const lines = await play(fake, clock, 0.1);
    expect(lines[0]).toContain("Till of an earlier play closed");
    const [till] = fake.tills;
    expect(till?.orderList.map(({ id }) => id).toSorted()).toEqual(left.map(({ id }) => id).toSorted());
    expect(salesOf(till?.orderList ?? [])).toBe(salesOf(left.map(({ data }) => data)));
    expect(till?.orderList.every(({ closedAt, leftToPay }) => closedAt !== null && leftToPay <= 0)).toBe(true);
    expect(others.every(({ id }) => fake.live.has(id))).toBe(true);
    expect([...fake.live.values()].some(({ tillId }) => tillId === till?.id)).toBe(false);
  }, 30_000);

  it("wait out an API that is down, and try again after a refusal", async () => {
    const [fake, clock] = [new FakeLiveApi(), new FakeClock(morning)];
    let ticks = 0;
    const lines = await play(fake, clock, 2.5, () => {
      ticks += 1;
      if (ticks === 20) fake.faults = Array(60).fill("unreachable");
      if (ticks === 60) fake.faults = ["scope_missing"];
    });
    expect(lines).toContainEqual(expect.stringContaining("does not answer, trying again"));
    expect(lines).toContain("The API answers again");
    expect(lines).toContainEqual(expect.stringContaining("Trying again in half a minute"));
    expect(fake.tills[0]?.orderList).toHaveLength(100);
  }, 30_000);

  it("start again after the machine has slept, with the till of the day before closed", async () => {
    const [fake, clock] = [new FakeLiveApi(), new FakeClock(morning)];
    let hasSlept = false;
    await play(fake, clock, 11, () => {
      if (hasSlept || fake.changes < 100) return;
      hasSlept = true;
      clock.time += 9 * hour;
    });
    expect(fake.tills[0]?.orderList).toHaveLength(100);
    const [live] = [...fake.live.values()];
    expect(Date.parse(live?.data.openedAt ?? "")).toBeGreaterThan(morning + 8.5 * hour);
  }, 30_000);
});
