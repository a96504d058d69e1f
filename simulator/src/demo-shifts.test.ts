import { describe, expect, it } from "vitest";
import {
  createFirstDemoShift,
  createNextDemoShift,
  type DemoShift,
  demoShiftShareAtHour,
  findInterruptedDemoShift,
  scheduleDemoShift,
} from "./simulate-demo.ts";
import { FakeClock } from "./testing/fake-live-api.ts";

const location = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const minute = 60_000;
const now = Date.parse("2026-11-20T09:13:20.000Z");
const at = (time: number, locationId = location) => ({
  locationId,
  timeZone: "Europe/Paris",
  clock: new FakeClock(time),
});
const liveOf = (...tillIds: string[]) => new Map(tillIds.map((tillId) => [tillId, []]));

describe("the first shift of a demo", () => {
  it("has begun twenty minutes ago or a little more, so that tables are open", () => {
    const shift = createFirstDemoShift(at(now));
    expect(now - shift.startsAt).toBeGreaterThanOrEqual(20 * minute);
    expect(now - shift.startsAt).toBeLessThan(25 * minute);
    const { revisions } = scheduleDemoShift(at(now), shift);
    const last = new Map(revisions.filter(({ at }) => at <= now).map(({ order }) => [order.id, order.data]));
    const open = [...last.values()].filter(({ closedAt }) => closedAt === null);
    expect(open.length).toBeGreaterThan(4);
    expect(open.length).toBeLessThan(30);
  });
});

describe("a shift that was broken off", () => {
  it("is found again by its till, while its time has not passed", () => {
    const first = createFirstDemoShift(at(now));
    const live = liveOf("another", first.tillId);
    expect(findInterruptedDemoShift(at(now + 90 * minute), live)).toEqual(first);
    expect(findInterruptedDemoShift(at(now + 121 * minute), live)).toBeUndefined();
    expect(findInterruptedDemoShift(at(now, "7d0f8a4c-6a51-4b8e-9c1d-0a6f5f3b2c22"), live)).toBeUndefined();
  });
});

describe("the shifts after it", () => {
  it("follow one another, short ones first, then two a day however long the demo runs", () => {
    const shifts: DemoShift[] = [createFirstDemoShift(at(now))];
    for (let count = 1; count < 40; count++) {
      const before = shifts.at(-1) as DemoShift;
      const next = createNextDemoShift(at(before.startsAt + before.durationMs + 1_000), before, count);
      expect(next.startsAt).toBe(before.startsAt + before.durationMs);
      shifts.push(next);
    }
    expect(new Set(shifts.map(({ tillId }) => tillId)).size).toBe(40);
    expect(shifts.map(({ durationMs }) => durationMs / minute)).toEqual([
      ...Array(6).fill(120),
      ...Array(34).fill(720),
    ]);
    const long = shifts.at(-1) as DemoShift;
    expect(findInterruptedDemoShift(at(long.startsAt + 600 * minute), liveOf(long.tillId))).toEqual(long);
  });

  it("start again when the machine has slept", () => {
    const before = createFirstDemoShift(at(now));
    const morning = now + 600 * minute;
    const next = createNextDemoShift(at(morning), before, 1);
    expect(morning - next.startsAt).toBeGreaterThanOrEqual(0);
    expect(morning - next.startsAt).toBeLessThan(5 * minute);
  });
});

describe("a shift's day", () => {
  it("passes its hours in order, the quiet ones quickly, and closes before the next shift", () => {
    const hours = Array.from({ length: 170 }, (_, index) => index / 10);
    const shares = hours.map(demoShiftShareAtHour);
    expect(shares[0]).toBe(0);
    expect(shares.every((share, index) => index === 0 || share > (shares[index - 1] ?? 1))).toBe(true);
    expect(shares.at(-1)).toBeLessThan(1);
    expect(demoShiftShareAtHour(7) - demoShiftShareAtHour(3.5)).toBeGreaterThan(
      5 * (demoShiftShareAtHour(10.5) - demoShiftShareAtHour(7)),
    );
  });

  it("is the same each time, and sends a change every few seconds", () => {
    const shift = createFirstDemoShift(at(now));
    const [one, other] = [1, 2].map(() => scheduleDemoShift(at(now), shift));
    expect(JSON.stringify(one?.till)).toBe(JSON.stringify(other?.till));
    expect(one?.till.startedAt).toBe(new Date(shift.startsAt).toISOString());
    expect(one?.closesAt).toBeLessThan(shift.startsAt + shift.durationMs);
    const perSecond = (one?.revisions.length ?? 0) / (shift.durationMs / 1000);
    expect(perSecond).toBeGreaterThan(0.05);
    expect(perSecond).toBeLessThan(0.5);
  });
});
