import { ApiProblem } from "@pragma/client";
import { countDays } from "@pragma/contracts/date-time";
import { describe, expect, it } from "vitest";
import type { ToolContext } from "./define-tool.ts";
import { findSameDaysBefore, type NamedPeriod, namedPeriods, resolvePeriod, selectPeriod } from "./period.ts";

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
  expect(open).toEqual({ since: "2026-05-01", until: today, includesToday: true });
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

it("the current day is that of the location, or that in UTC if the API key cannot read its time zone", async () => {
  const now = new Date("2026-05-29T22:30:00.000Z");
  const select = (timeZone: string, args: object = { period: "today" }) =>
    selectPeriod({ now, ownLocation: { id: "1", timeZone } } as unknown as ToolContext, args);
  expect((await select("Europe/Paris")).period).toEqual({
    since: "2026-05-30",
    until: "2026-05-30",
    name: "today",
    days: 1,
    timeZone: "Europe/Paris",
  });
  expect((await select("America/New_York")).period.since).toBe("2026-05-29");
  const problem = { status: 403, code: "scope_missing", title: "", detail: "", type: "", requestId: "1" } as const;
  const api = { GET: () => Promise.reject(new ApiProblem("GET /v1/locations/2", problem)) };
  const operator = { now, ownLocation: null, api } as unknown as ToolContext;
  const { period, notes } = await selectPeriod(operator, { period: "today", locationId: "2" });
  expect(period).toEqual({ since: "2026-05-29", until: "2026-05-29", name: "today", days: 1 });
  expect(notes[0]).toContain("the current day is that in UTC");
});
