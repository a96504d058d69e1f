import { describe, expect, it } from "vitest";
import { type DemoDayWithTillId, generateDemoTill, listDemoDaysWithTillIds } from "./demo-location.ts";

const location = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";
const noon = new Date("2026-06-15T12:00:00.000Z");

describe("listDemoDaysWithTillIds", () => {
  it("returns thirty days, the last of them yesterday", () => {
    const days = listDemoDaysWithTillIds(location, noon).map(({ day }) => day);
    expect(days).toHaveLength(30);
    expect(days[0]).toBe("2026-05-16");
    expect(days.at(-1)).toBe("2026-06-14");
    expect(days).toEqual(days.toSorted());
  });

  it("changes the day at midnight in Paris, not in UTC", () => {
    const yesterday = (now: string) => listDemoDaysWithTillIds(location, new Date(now)).at(-1)?.day;
    expect(yesterday("2026-06-14T21:59:59.000Z")).toBe("2026-06-13");
    expect(yesterday("2026-06-14T22:00:00.000Z")).toBe("2026-06-14");
    expect(yesterday("2026-01-14T22:30:00.000Z")).toBe("2026-01-13");
  });

  it("returns the same till id for a day on the next day, and another till id for another location", () => {
    const tomorrow = new Date("2026-06-16T12:00:00.000Z");
    const idOn = (days: DemoDayWithTillId[]) => days.find(({ day }) => day === "2026-06-01")?.tillId;
    const id = idOn(listDemoDaysWithTillIds(location, noon));
    expect(idOn(listDemoDaysWithTillIds(location, tomorrow))).toBe(id);
    expect(idOn(listDemoDaysWithTillIds("7d0f8a4c-6a51-4b8e-9c1d-0a6f5f3b2c22", noon))).not.toBe(id);
  });
});

describe("generateDemoTill", () => {
  const days = listDemoDaysWithTillIds(location, noon);

  it("returns a till of 40 to 80 orders that opens at the start of its day", () => {
    for (const day of days) {
      const till = generateDemoTill(location, day);
      expect(till.id).toBe(day.tillId);
      expect(till.startedAt).toBe(`${day.day}T06:00:00.000Z`);
      expect(till.orderList.length).toBeGreaterThanOrEqual(40);
      expect(till.orderList.length).toBeLessThanOrEqual(80);
    }
  });

  it("always returns the same till, without orders of another day", () => {
    const [one, other] = days as [DemoDayWithTillId, DemoDayWithTillId];
    expect(JSON.stringify(generateDemoTill(location, one))).toBe(JSON.stringify(generateDemoTill(location, one)));
    const ids = [one, other].flatMap((day) => generateDemoTill(location, day).orderList.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
