import type { MetricDimension } from "@pragma/contracts/metric-definitions";
import type { MetricRow, Metrics } from "@pragma/contracts/metrics";
import { expect, it } from "vitest";
import { getComparedMetrics } from "./compared-metrics.ts";
import type { ToolContext } from "./define-tool.ts";
import type { DayRange } from "./period.ts";

const location = { query: {}, args: {}, timeZone: "Europe/Paris" };
const period = { since: "2026-05-25", until: "2026-05-27" };
const earlierPeriod = { since: "2026-05-18", until: "2026-05-20" };

type Sales = [value: string, sales: number][];

/** Returns the comparison of two responses of the API, each given by its sales by value of the dimension. */
function compareSales(
  groupBy: MetricDimension,
  sales: { now: Sales; before: Sales; omittedRowCount?: number },
  periods: { period: DayRange; earlierPeriod: DayRange } = { period, earlierPeriod },
): Promise<Metrics> {
  const respond = (range: Sales, since: string, until: string): Metrics => ({
    since,
    until,
    compareSince: null,
    compareUntil: null,
    measures: ["sales", "averageOrder"],
    dimensions: [groupBy],
    data: range.map(
      ([value, amount]): MetricRow => ({
        currency: "EUR",
        dimensions: { [groupBy]: value },
        values: { sales: amount, averageOrder: amount },
        comparison: null,
      }),
    ),
    totals: [
      {
        currency: "EUR",
        values: { sales: range.reduce((sum, [, amount]) => sum + amount, 0), averageOrder: 700 },
        comparison: null,
        unattributed: null,
      },
    ],
    rowCount: range.length,
    omittedRowCount: sales.omittedRowCount ?? 0,
    missingReportCount: 1,
  });
  const get = async (_: string, query: Record<string, unknown> = {}) =>
    query.since === periods.period.since
      ? respond(sales.now, periods.period.since, periods.period.until)
      : respond(sales.before, periods.earlierPeriod.since, periods.earlierPeriod.until);
  const context = { api: { get } } as unknown as ToolContext;
  return getComparedMetrics(context, { location, measures: ["sales", "averageOrder"], groupBy, ...periods });
}

const listRows = ({ data }: Metrics, groupBy: MetricDimension) =>
  data.map(({ dimensions, values, comparison }) => [
    dimensions[groupBy],
    comparison?.dimensions[groupBy],
    values.sales,
    comparison?.values.sales,
    comparison?.differences.sales,
    comparison?.percents.sales,
  ]);

it("a comparison has the rows of both periods, and exact totals", async () => {
  const metrics = await compareSales("room", {
    now: [
      ["Salle", 3_000],
      ["Terrasse", 1_000],
    ],
    before: [
      ["Terrasse", 3_000],
      ["Bar", 500],
    ],
  });
  expect(listRows(metrics, "room")).toEqual([
    ["Salle", "Salle", 3_000, 0, 3_000, null],
    ["Terrasse", "Terrasse", 1_000, 3_000, -2_000, -66.67],
    ["Bar", "Bar", 0, 500, -500, -100],
  ]);
  expect(metrics.data[0]?.comparison).toMatchObject({
    values: { averageOrder: null },
    percents: { averageOrder: null },
  });
  expect(metrics).toMatchObject({ compareSince: "2026-05-18", compareUntil: "2026-05-20", missingReportCount: 2 });
  expect(metrics.totals[0]).toMatchObject({
    values: { sales: 4_000 },
    comparison: { values: { sales: 3_500 }, differences: { sales: 500, averageOrder: 0 }, percents: { sales: 14.29 } },
  });
});

it("a comparison by day has the days at the same position, also if one has no data", async () => {
  const metrics = await compareSales("day", {
    now: [["2026-05-27", 300]],
    before: [
      ["2026-05-18", 100],
      ["2026-05-20", 200],
    ],
  });
  expect(listRows(metrics, "day").map((row) => row.slice(0, 4))).toEqual([
    ["2026-05-25", "2026-05-18", 0, 100],
    ["2026-05-27", "2026-05-20", 300, 200],
  ]);
});

it("a comparison by week names ISO weeks, and a position that the earlier period does not have is null", async () => {
  const periods = {
    period: { since: "2027-01-01", until: "2027-01-18" },
    earlierPeriod: { since: "2026-12-01", until: "2026-12-13" },
  };
  const sales = {
    now: [
      ["2027-W03", 3],
      ["2026-W53", 1],
    ] as Sales,
    before: [["2026-W50", 2]] as Sales,
  };
  const metrics = await compareSales("week", sales, periods);
  expect(listRows(metrics, "week").map((row) => row.slice(0, 4))).toEqual([
    ["2026-W53", "2026-W49", 1, 0],
    ["2027-W01", "2026-W50", 0, 2],
    ["2027-W03", null, 3, 0],
  ]);
});

it("periods with more rows than the API returns are not compared", async () => {
  await expect(compareSales("product", { now: [], before: [], omittedRowCount: 1 })).rejects.toThrow(
    "more than 1000 rows by product",
  );
});
