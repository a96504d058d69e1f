import { describe, expect, it } from "vitest";
import { SeededRandom } from "./random.ts";
import { generateGuestArrivalTimes, generateOpeningHours } from "./service-day.ts";

const localHour = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Paris", hour: "2-digit", hourCycle: "h23" });

describe("the hours and shifts of a simulated day", () => {
  it.each([
    ["2026-01-15", "2026-01-15T07:00:00.000Z"],
    ["2026-07-15", "2026-07-15T06:00:00.000Z"],
    ["2026-03-29", "2026-03-29T06:00:00.000Z"],
    ["2026-10-25", "2026-10-25T07:00:00.000Z"],
  ])("opens at eight in the morning of %s", (day, expectedOpening) => {
    expect(new Date(generateOpeningHours(new SeededRandom("day"), day).opensAtMs).toISOString()).toBe(expectedOpening);
  });

  it.each(["2026-02-30", "2026-2-3", "20260203", "2026-02-03T10:00", "tomorrow", ""])(
    "rejects %j, which is not a day",
    (day) => {
      expect(() => generateOpeningHours(new SeededRandom("day"), day)).toThrow(RangeError);
    },
  );
});

describe("generateGuestArrivalTimes", () => {
  it("returns sorted times while the restaurant is open, most at noon and in the evening", () => {
    const day = generateOpeningHours(new SeededRandom("day"), "2026-05-29");
    const times = generateGuestArrivalTimes(new SeededRandom("arrivals"), day, 1000);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(day.opensAtMs);
    expect(Math.max(...times)).toBeLessThan(day.closesAtMs);
    const hours = times.map((time) => Number(localHour.format(time)));
    const between = (from: number, to: number) => hours.filter((hour) => hour >= from && hour < to).length;
    expect(between(12, 14)).toBeGreaterThan(3 * between(15, 17));
    expect(between(19, 22)).toBeGreaterThan(3 * between(15, 18));
  });
});
