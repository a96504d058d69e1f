import { describe, expect, it } from "vitest";
import {
  computeComparedRange,
  formatDay,
  formatMonth,
  formatWeek,
  getMonday,
  getMonthNumber,
  getWeekday,
  splitRange,
  toDayNumber,
} from "./metric-periods.ts";

const toRange = (since: string, until: string) => ({ first: toDayNumber(since), last: toDayNumber(until) });

describe("the compared range", () => {
  it.each([
    // The same number of days before.
    ["2026-05-29", "2026-05-29", "previous_period", "2026-05-28", "2026-05-28"],
    ["2026-05-11", "2026-05-17", "previous_period", "2026-05-04", "2026-05-10"],
    ["2026-01-01", "2026-01-10", "previous_period", "2025-12-22", "2025-12-31"],
    ["2026-03-29", "2026-03-29", "previous_period", "2026-03-28", "2026-03-28"],
    // The same number of whole months before.
    ["2026-03-01", "2026-03-31", "previous_period", "2026-02-01", "2026-02-28"],
    ["2024-03-01", "2024-03-31", "previous_period", "2024-02-01", "2024-02-29"],
    ["2026-01-01", "2026-03-31", "previous_period", "2025-10-01", "2025-12-31"],
    ["2026-01-01", "2026-12-31", "previous_period", "2025-01-01", "2025-12-31"],
    // The same weekdays, whole weeks before.
    ["2026-05-29", "2026-05-29", "previous_week", "2026-05-22", "2026-05-22"],
    ["2026-03-29", "2026-03-29", "previous_week", "2026-03-22", "2026-03-22"],
    ["2026-05-11", "2026-05-13", "previous_week", "2026-05-04", "2026-05-06"],
    ["2026-05-11", "2026-05-17", "previous_week", "2026-05-04", "2026-05-10"],
    ["2026-05-11", "2026-05-18", "previous_week", "2026-04-27", "2026-05-04"],
    ["2024-03-01", "2024-03-31", "previous_week", "2024-01-26", "2024-02-25"],
    // The same dates a year before.
    ["2026-05-29", "2026-06-02", "previous_year", "2025-05-29", "2025-06-02"],
    ["2024-02-29", "2024-02-29", "previous_year", "2023-02-28", "2023-02-28"],
    ["2024-02-01", "2024-02-29", "previous_year", "2023-02-01", "2023-02-28"],
    ["2025-02-01", "2025-02-28", "previous_year", "2024-02-01", "2024-02-28"],
    ["2025-12-15", "2026-01-15", "previous_year", "2024-12-15", "2025-01-15"],
    ["1900-01-01", "1900-12-31", "previous_year", "1899-01-01", "1899-12-31"],
  ] as const)("of %s to %s with %s is %s to %s", (since, until, comparison, comparedSince, comparedUntil) => {
    const { first, last } = computeComparedRange(toRange(since, until), comparison);
    expect([formatDay(first), formatDay(last)]).toEqual([comparedSince, comparedUntil]);
  });
});

it.each([
  ["2026-05-29", "2026-W22", 4, "2026-05"],
  ["2024-12-30", "2025-W01", 0, "2024-12"],
  ["2027-01-03", "2026-W53", 6, "2027-01"],
  ["2021-01-03", "2020-W53", 6, "2021-01"],
  ["1969-12-31", "1970-W01", 2, "1969-12"],
])("%s is in the week %s, on the weekday %i, and in the month %s", (day, week, weekday, month) => {
  const number = toDayNumber(day);
  expect(formatWeek(getMonday(number))).toBe(week);
  expect(getWeekday(number)).toBe(weekday);
  expect(formatMonth(getMonthNumber(number))).toBe(month);
});

describe("the spans of a range", () => {
  const list = (filters: Parameters<typeof splitRange>[1], canMergeMonths: boolean) =>
    splitRange(toRange("2026-01-30", "2026-04-02"), filters, canMergeMonths).map(
      ({ first, last, isWholeMonth }) => `${formatDay(first)}/${formatDay(last)}${isWholeMonth ? " month" : ""}`,
    );

  it("are whole months and the days around them, if months can be merged", () => {
    expect(list({}, false)).toEqual(["2026-01-30/2026-04-02"]);
    const months = ["2026-02-01/2026-02-28 month", "2026-03-01/2026-03-31 month"];
    expect(list({}, true)).toEqual(["2026-01-30/2026-01-31", ...months, "2026-04-01/2026-04-02"]);
  });

  it("contain only the days that filters accept", () => {
    expect(list({ month: ["2026-03", "2026-04"] }, true)).toEqual([
      "2026-03-01/2026-03-31 month",
      "2026-04-01/2026-04-02",
    ]);
    expect(list({ week: ["2026-W10"], weekday: ["monday", "tuesday", "sunday"] }, false)).toEqual([
      "2026-03-02/2026-03-03",
      "2026-03-08/2026-03-08",
    ]);
    expect(list({ day: ["2026-02-30", "2026-04-02", "2026-04-03"] }, false)).toEqual(["2026-04-02/2026-04-02"]);
    expect(list({ month: ["2026-05"] }, true)).toEqual([]);
  });
});
