import { countDays } from "@pragma/contracts/date-time";
import { describe, expect, it } from "vitest";
import {
  describePeriod,
  findSameDaysBefore,
  getCurrentDay,
  type NamedPeriod,
  namedPeriods,
  resolvePeriod,
} from "./period.ts";

const resolve = (period: NamedPeriod, today: string) => {
  const { since, until } = resolvePeriod({ period }, { today, defaultPeriod: "last_7_days" });
  return `${since} ${until}`;
};

describe("a named period", () => {
  it.each<[NamedPeriod, string, string]>([
    ["today", "2026-05-29", "2026-05-29 2026-05-29"],
    ["yesterday", "2026-03-01", "2026-02-28 2026-02-28"],
    ["this_week", "2026-05-29", "2026-05-25 2026-05-29"],
    ["this_week", "2026-05-31", "2026-05-25 2026-05-31"],
    ["last_week", "2026-06-01", "2026-05-25 2026-05-31"],
    ["this_month", "2026-05-29", "2026-05-01 2026-05-29"],
    ["last_month", "2024-03-31", "2024-02-01 2024-02-29"],
    ["last_month", "2026-01-01", "2025-12-01 2025-12-31"],
    ["this_year", "2026-05-29", "2026-01-01 2026-05-29"],
    ["last_year", "2026-05-29", "2025-01-01 2025-12-31"],
    ["last_7_days", "2026-05-29", "2026-05-22 2026-05-28"],
    ["last_30_days", "2026-05-29", "2026-04-29 2026-05-28"],
  ])("%s on %s is %s", (period, today, expected) => {
    expect(resolve(period, today)).toBe(expected);
  });

  it("has as many days as its name says, also when clocks change", () => {
    for (const name of namedPeriods.filter((period) => /\d/.test(period)))
      for (const today of ["2026-03-30", "2026-10-26", "2024-03-01"]) {
        const period = resolvePeriod({ period: name }, { today, defaultPeriod: "today" });
        expect(countDays(period)).toBe(Number(name.split("_")[1]));
        expect(period.includesToday).toBe(false);
      }
  });
});

it("a period without arguments is the default of the tool, and one without an end ends today", () => {
  const today = "2026-05-29";
  expect(resolvePeriod({}, { today, defaultPeriod: "yesterday" })).toMatchObject({
    since: "2026-05-28",
    name: "yesterday",
  });
  const open = resolvePeriod({ since: "2026-05-01" }, { today, defaultPeriod: "yesterday" });
  expect(open).toEqual({ since: "2026-05-01", until: today, isDated: false, includesToday: true });
});

it.each<[NamedPeriod, string, string]>([
  ["this_week", "2026-05-27", "2026-05-18 2026-05-20"],
  ["this_week", "2026-05-31", "2026-05-18 2026-05-24"],
  ["this_month", "2026-05-20", "2026-04-01 2026-04-20"],
  ["this_month", "2026-05-31", "2026-04-01 2026-04-30"],
  ["this_month", "2024-03-30", "2024-02-01 2024-02-29"],
  ["this_month", "2026-01-05", "2025-12-01 2025-12-05"],
])("the days that correspond to %s on %s are %s", (name, today, expected) => {
  const before = findSameDaysBefore(resolvePeriod({ period: name }, { today, defaultPeriod: "today" }));
  expect(`${before?.since} ${before?.until}`).toBe(expected);
});

it("a period that is over is compared as the API compares it", () => {
  const period = resolvePeriod({ period: "last_week" }, { today: "2026-05-27", defaultPeriod: "today" });
  expect(findSameDaysBefore(period)).toBeUndefined();
});

it.each([
  [{ since: "2026-05-29", until: "2026-05-29" }, "2026-05-29 (1 day, time zone of the location)"],
  [{ since: "2026-05-28" }, "2026-05-28 to 2026-05-29 (2 days, days in UTC: the key cannot read the time zone)"],
  [{ period: "today" }, "2026-05-29 (today, 1 day, days in UTC: the key cannot read the time zone)"],
] as const)("the text of %j states in which time zone its days are, if that is unknown", (args, text) => {
  const period = resolvePeriod(args, { today: "2026-05-29", defaultPeriod: "today" });
  expect(describePeriod(period, { timeZone: null })).toBe(text);
});

it("the current day is that of the location", () => {
  const now = new Date("2026-05-29T22:30:00.000Z");
  expect(getCurrentDay("Europe/Paris", now)).toBe("2026-05-30");
  expect(getCurrentDay("America/New_York", now)).toBe("2026-05-29");
});
