import type { Metrics } from "@pragma/contracts/metrics";
import { expect, it } from "vitest";
import { joinPeriods } from "./figures.ts";

/** Returns a response of the API with sales by the values of a dimension. */
function respond(dimension: "day" | "room", since: string, sales: [value: string, sales: number][]): Metrics {
  return {
    since,
    until: since,
    compareSince: null,
    compareUntil: null,
    measures: ["sales", "averageOrder"],
    dimensions: [dimension],
    data: sales.map(([value, amount]) => ({
      currency: "EUR",
      dimensions: dimension === "day" ? { day: value } : { room: { name: value, type: null } },
      values: { sales: amount, averageOrder: amount },
      comparison: null,
    })),
    totals: [{ currency: "EUR", values: { sales: 5, averageOrder: 5 }, comparison: null, unattributed: null }],
    rowCount: sales.length,
    omittedRowCount: 0,
    missingReportCount: 1,
  };
}

it("days of two periods correspond by their position, and those of one period are compared with nothing", () => {
  const now = respond("day", "2026-05-25", [
    ["2026-05-26", 20],
    ["2026-05-27", 30],
  ]);
  const before = respond("day", "2026-05-18", [
    ["2026-05-18", 1],
    ["2026-05-20", 3],
  ]);
  const { data, missingReportCount } = joinPeriods(now, before);
  expect(
    data.map(({ dimensions: { day }, values, comparison }) => [
      [day, values.sales, values.averageOrder],
      [comparison?.dimensions.day, comparison?.values.sales, comparison?.values.averageOrder],
    ]),
  ).toEqual([
    [
      ["2026-05-25", 0, null],
      ["2026-05-18", 1, 1],
    ],
    [
      ["2026-05-26", 20, 20],
      ["2026-05-19", 0, null],
    ],
    [
      ["2026-05-27", 30, 30],
      ["2026-05-20", 3, 3],
    ],
  ]);
  expect(missingReportCount).toBe(2);
});

it("other groups of two periods correspond by their value", () => {
  const { data, totals } = joinPeriods(
    respond("room", "2026-05-25", [["Bar", 2]]),
    respond("room", "2026-05-18", [
      ["Bar", 1],
      ["Terrasse", 4],
    ]),
  );
  expect(
    data.map(({ dimensions: { room }, values, comparison }) => [room?.name, values.sales, comparison?.values.sales]),
  ).toEqual([
    ["Bar", 2, 1],
    ["Terrasse", 0, 4],
  ]);
  expect(totals[0]?.comparison?.values).toEqual({ sales: 5, averageOrder: 5 });
});
