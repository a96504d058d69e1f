import { describe, expect, it } from "vitest";
import { brokenOffShift, type DemoShift, newShift, shareOfShift, shiftAfter, shiftDay } from "./play-demo.ts";
import { TestClock } from "./testing/fake-live-api.ts";

const location = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const minute = 60_000;
const now = Date.parse("2026-11-20T09:13:20.000Z");
const at = (time: number, locationId = location) => ({
  locationId,
  timeZone: "Europe/Paris",
  clock: new TestClock(time),
});
const liveOf = (...tillIds: string[]) => new Map(tillIds.map((tillId) => [tillId, []]));

describe("the first shift of a demo", () => {
  it("has begun twenty minutes ago or a little more, so that tables are open", () => {
    const shift = newShift(at(now));
    expect(now - shift.begins).toBeGreaterThanOrEqual(20 * minute);
    expect(now - shift.begins).toBeLessThan(25 * minute);
    const { revisions } = shiftDay(at(now), shift);
    const last = new Map(revisions.filter(({ at }) => at <= now).map(({ order }) => [order.id, order.data]));
    const open = [...last.values()].filter(({ closedAt }) => closedAt === null);
    expect(open.length).toBeGreaterThan(4);
    expect(open.length).toBeLessThan(30);
  });
});

describe("a shift that was broken off", () => {
  it("is found again by its till, while its time has not passed", () => {
    const first = newShift(at(now));
    const live = liveOf("another", first.tillId);
    expect(brokenOffShift(at(now + 90 * minute), live)).toEqual(first);
    expect(brokenOffShift(at(now + 121 * minute), live)).toBeUndefined();
    expect(brokenOffShift(at(now, "7d0f8a4c-6a51-4b8e-9c1d-0a6f5f3b2c22"), live)).toBeUndefined();
  });
});

describe("the shifts after it", () => {
  it("follow one another, short ones first, then two a day however long the demo runs", () => {
    const shifts: DemoShift[] = [newShift(at(now))];
    for (let count = 1; count < 40; count++) {
      const before = shifts.at(-1) as DemoShift;
      const next = shiftAfter(at(before.begins + before.lasts + 1_000), before, count);
      expect(next.begins).toBe(before.begins + before.lasts);
      shifts.push(next);
    }
    expect(new Set(shifts.map(({ tillId }) => tillId)).size).toBe(40);
    expect(shifts.map(({ lasts }) => lasts / minute)).toEqual([...Array(6).fill(120), ...Array(34).fill(720)]);
    const long = shifts.at(-1) as DemoShift;
    expect(brokenOffShift(at(long.begins + 600 * minute), liveOf(long.tillId))).toEqual(long);
  });

  it("start again when the machine has slept", () => {
    const before = newShift(at(now));
    const morning = now + 600 * minute;
    const next = shiftAfter(at(morning), before, 1);
    expect(morning - next.begins).toBeGreaterThanOrEqual(0);
    expect(morning - next.begins).toBeLessThan(5 * minute);
  });
});

describe("a shift's day", () => {
  it("passes its hours in order, the quiet ones quickly, and closes before the next shift", () => {
    const hours = Array.from({ length: 170 }, (_, index) => index / 10);
    const shares = hours.map(shareOfShift);
    expect(shares[0]).toBe(0);
    expect(shares.every((share, index) => index === 0 || share > (shares[index - 1] ?? 1))).toBe(true);
    expect(shares.at(-1)).toBeLessThan(1);
    expect(shareOfShift(7) - shareOfShift(3.5)).toBeGreaterThan(5 * (shareOfShift(10.5) - shareOfShift(7)));
  });

  it("is the same each time, and sends a change every few seconds", () => {
    const shift = newShift(at(now));
    const [one, other] = [1, 2].map(() => shiftDay(at(now), shift));
    expect(JSON.stringify(one?.till)).toBe(JSON.stringify(other?.till));
    expect(one?.till.startedAt).toBe(new Date(shift.begins).toISOString());
    expect(one?.closesAt).toBeLessThan(shift.begins + shift.lasts);
    const perSecond = (one?.revisions.length ?? 0) / (shift.lasts / 1000);
    expect(perSecond).toBeGreaterThan(0.05);
    expect(perSecond).toBeLessThan(0.5);
  });
});
