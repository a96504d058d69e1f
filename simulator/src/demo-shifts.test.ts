import { describe, expect, it } from "vitest";
import { brokenOffShift, type DemoShift, newShift, shareOfShift, shiftAfter } from "./demo-shifts.ts";
import { shiftDay } from "./play-demo.ts";

const location = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const minute = 60_000;
const now = Date.parse("2026-11-20T09:13:20.000Z");
const nobody = new Set<string>();

describe("the first shift of a demo", () => {
  it("has begun twenty minutes ago or a little more, so that tables are open", () => {
    const shift = newShift(location, now, nobody);
    expect(now - shift.begins).toBeGreaterThanOrEqual(20 * minute);
    expect(now - shift.begins).toBeLessThan(25 * minute);
    const { revisions } = shiftDay({ timeZone: "Europe/Paris" }, shift);
    const last = new Map(revisions.filter(({ at }) => at <= now).map(({ order }) => [order.id, order.data]));
    const open = [...last.values()].filter(({ closedAt }) => closedAt === null);
    expect(open.length).toBeGreaterThan(4);
    expect(open.length).toBeLessThan(30);
  });

  it("has a till that has not been", () => {
    const first = newShift(location, now, nobody);
    const second = newShift(location, now, new Set([first.tillId]));
    expect(second.tillId).not.toBe(first.tillId);
    expect(first.begins - second.begins).toBe(5 * minute);
  });
});

describe("a shift that was broken off", () => {
  it("is found again by its till, while its time has not passed", () => {
    const first = newShift(location, now, nobody);
    const live = new Set([first.tillId, "another"]);
    expect(brokenOffShift(location, now + 90 * minute, live)).toEqual(first);
    expect(brokenOffShift(location, now + 121 * minute, live)).toBeUndefined();
    expect(brokenOffShift("7d0f8a4c-6a51-4b8e-9c1d-0a6f5f3b2c22", now, live)).toBeUndefined();
  });
});

describe("the shifts after it", () => {
  it("follow one another, short ones first, then two a day however long the demo runs", () => {
    const shifts: DemoShift[] = [newShift(location, now, nobody)];
    for (let count = 1; count < 40; count++) {
      const before = shifts.at(-1) as DemoShift;
      const next = shiftAfter(location, before, count, before.begins + before.lasts + 1_000);
      expect(next.begins).toBe(before.begins + before.lasts);
      shifts.push(next);
    }
    expect(new Set(shifts.map(({ tillId }) => tillId)).size).toBe(40);
    expect(shifts.map(({ lasts }) => lasts / minute)).toEqual([...Array(6).fill(120), ...Array(34).fill(720)]);
    const long = shifts.at(-1) as DemoShift;
    expect(brokenOffShift(location, long.begins + 600 * minute, new Set([long.tillId]))).toEqual(long);
  });

  it("begin anew when the machine has slept", () => {
    const before = newShift(location, now, nobody);
    const morning = now + 600 * minute;
    const next = shiftAfter(location, before, 1, morning);
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
    const shift = newShift(location, now, nobody);
    const [one, other] = [1, 2].map(() => shiftDay({ timeZone: "Europe/Paris" }, shift));
    expect(JSON.stringify(one?.till)).toBe(JSON.stringify(other?.till));
    expect(one?.till.startedAt).toBe(new Date(shift.begins).toISOString());
    expect(one?.closesAt).toBeLessThan(shift.begins + shift.lasts);
    const perSecond = (one?.revisions.length ?? 0) / (shift.lasts / 1000);
    expect(perSecond).toBeGreaterThan(0.05);
    expect(perSecond).toBeLessThan(0.5);
  });
});
