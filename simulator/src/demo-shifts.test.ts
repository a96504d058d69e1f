import { describe, expect, it } from "vitest";
import {
  type DemoTillShift,
  findInterruptedDemoTillShift,
  generateDemoTillShiftSchedule,
  getDemoShiftProgressAtHour,
  planFirstDemoTillShift,
  planNextDemoTillShift,
} from "./simulate-demo.ts";
import { FakeClock } from "./testing/fake-pragma-api.ts";

const location = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const minuteMs = 60_000;
const now = Date.parse("2026-11-20T09:13:20.000Z");
const contextAt = (timeMs: number, locationId = location) => ({
  locationId,
  clock: new FakeClock(timeMs),
});
const createLiveTills = (...tillIds: string[]) => new Map(tillIds.map((tillId) => [tillId, []]));

describe("the first shift of a demo", () => {
  it("started at least twenty minutes ago, so that orders are open", () => {
    const shift = planFirstDemoTillShift(contextAt(now));
    expect(now - shift.startsAtMs).toBeGreaterThanOrEqual(20 * minuteMs);
    expect(now - shift.startsAtMs).toBeLessThan(25 * minuteMs);
    const { revisions } = generateDemoTillShiftSchedule(shift);
    const last = new Map(revisions.filter(({ atMs }) => atMs <= now).map(({ order }) => [order.id, order.data]));
    const open = [...last.values()].filter(({ closedAt }) => closedAt === null);
    expect(open.length).toBeGreaterThan(4);
    expect(open.length).toBeLessThan(30);
  });
});

describe("an interrupted shift", () => {
  it("is found by its till until its planned end", () => {
    const first = planFirstDemoTillShift(contextAt(now));
    const live = createLiveTills("another", first.tillId);
    expect(findInterruptedDemoTillShift(contextAt(now + 90 * minuteMs), live)).toEqual(first);
    expect(findInterruptedDemoTillShift(contextAt(now + 121 * minuteMs), live)).toBeUndefined();
    expect(findInterruptedDemoTillShift(contextAt(now, "7d0f8a4c-6a51-4b8e-9c1d-0a6f5f3b2c22"), live)).toBeUndefined();
  });
});

describe("the following shifts", () => {
  it("follow one another: first short shifts, then two shifts a day", () => {
    const shifts: DemoTillShift[] = [planFirstDemoTillShift(contextAt(now))];
    for (let count = 1; count < 40; count++) {
      const before = shifts.at(-1) as DemoTillShift;
      const next = planNextDemoTillShift(contextAt(before.startsAtMs + before.durationMs + 1_000), before, count);
      expect(next.startsAtMs).toBe(before.startsAtMs + before.durationMs);
      shifts.push(next);
    }
    expect(new Set(shifts.map(({ tillId }) => tillId)).size).toBe(40);
    expect(shifts.map(({ durationMs }) => durationMs / minuteMs)).toEqual([
      ...Array(6).fill(120),
      ...Array(34).fill(720),
    ]);
    const long = shifts.at(-1) as DemoTillShift;
    expect(
      findInterruptedDemoTillShift(contextAt(long.startsAtMs + 600 * minuteMs), createLiveTills(long.tillId)),
    ).toEqual(long);
  });

  it("start at the current time after the machine was suspended", () => {
    const before = planFirstDemoTillShift(contextAt(now));
    const morning = now + 600 * minuteMs;
    const next = planNextDemoTillShift(contextAt(morning), before, 1);
    expect(morning - next.startsAtMs).toBeGreaterThanOrEqual(0);
    expect(morning - next.startsAtMs).toBeLessThan(5 * minuteMs);
  });
});

describe("the schedule of a shift", () => {
  it("runs through its hours in sequence, through quiet hours faster, and ends before the next shift", () => {
    const hours = Array.from({ length: 170 }, (_, index) => index / 10);
    const shares = hours.map(getDemoShiftProgressAtHour);
    expect(shares[0]).toBe(0);
    expect(shares.every((share, index) => index === 0 || share > (shares[index - 1] ?? 1))).toBe(true);
    expect(shares.at(-1)).toBeLessThan(1);
    expect(getDemoShiftProgressAtHour(7) - getDemoShiftProgressAtHour(3.5)).toBeGreaterThan(
      5 * (getDemoShiftProgressAtHour(10.5) - getDemoShiftProgressAtHour(7)),
    );
  });

  it("is always the same, and has a change every few seconds", () => {
    const shift = planFirstDemoTillShift(contextAt(now));
    const [one, other] = [1, 2].map(() => generateDemoTillShiftSchedule(shift));
    expect(JSON.stringify(one?.till)).toBe(JSON.stringify(other?.till));
    expect(one?.till.startedAt).toBe(new Date(shift.startsAtMs).toISOString());
    expect(Date.parse(one?.till.finalizedAt ?? "")).toBeLessThan(shift.startsAtMs + shift.durationMs);
    const perSecond = (one?.revisions.length ?? 0) / (shift.durationMs / 1000);
    expect(perSecond).toBeGreaterThan(0.05);
    expect(perSecond).toBeLessThan(0.5);
  });
});
