import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import type { MetricRow } from "@pragma/contracts/metrics";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { formatAmount, formatDecimalAmount } from "../format-amount.ts";
import {
  describeOpenShifts,
  describePeriod,
  findLocationAndPeriod,
  locationArgument,
  periodArgumentsOf,
} from "../location.ts";
import {
  describeDimensionValue,
  describeMissingReports,
  describeOmittedRows,
  filterMeasures,
  filtersArgument,
  getMetrics,
  maxMetricRows,
  splitByCurrency,
} from "../metrics.ts";
import { findPeriodIssue, periodArguments } from "../period.ts";
import { defineTool } from "../tool.ts";

const groups = [
  ...["day", "week", "month", "weekday", "hour", "room", "serviceType", "channel", "clerk"],
  ...["product", "category", "subcategory"],
] as const satisfies MetricDimension[];
const sequentialGroups: readonly MetricDimension[] = ["day", "week", "month"];

const measuresWithLabels = {
  sales: "Sales incl. tax",
  salesWithoutTax: "Sales excl. tax",
  orders: "Orders",
  guests: "Guests",
  averageOrder: "Average per order",
  averageGuest: "Average per guest",
  quantity: "Units sold",
  discounts: "Discounts",
  cancellations: "Cancellations",
} as const satisfies Partial<Record<MetricMeasure, string>>;
const measureNames = Object.keys(measuresWithLabels) as (keyof typeof measuresWithLabels)[];
const countMeasures: readonly MetricMeasure[] = ["orders", "guests", "quantity"];

export const comparePeriodsTool = defineTool({
  name: "compare_periods",
  title: "Compare periods",
  description: "Compares a period with the one before or a year earlier; with groupBy, the largest changes in sales.",
  scopes: ["reports:read"],
  arguments: {
    ...periodArguments,
    compareWith: z.enum(["previous_period", "previous_year"]).default("previous_period"),
    groupBy: z.enum(groups).optional(),
    ...filtersArgument,
    limit: z.int().min(1).max(50).default(10),
    ...locationArgument,
  },
  example: { period: "last_week", compareWith: "previous_year", groupBy: "product" },
  findIssue: findPeriodIssue,
  async answer({ compareWith, groupBy, filters, limit, ...args }, context) {
    const { location, period } = await findLocationAndPeriod(context, args);
    const measures = filterMeasures(measureNames, { groupBy, filters });
    const metrics = await getMetrics(context, {
      ...{ location, period, filters, compare: compareWith, limit: maxMetricRows },
      // Without a measure that goes with the filters, the API explains what does.
      measures: measures.length > 0 ? measures : ["sales"],
      ...(groupBy && { dimensions: [groupBy] }),
    });
    const answer = new Answer().add(
      `${describePeriod(period, location)} compared with ${metrics.compareSince} to ${metrics.compareUntil} (${compareWith})`,
    );
    for (const { currency, totals, rows, omittedRowCount } of splitByCurrency(metrics)) {
      const { values, comparison } = totals;
      answer.addTable({
        columns: ["figure", "now", "before", "change"],
        rows: measures.map((measure) => {
          const format = (value: number | null | undefined) => formatValue(value, measure, currency);
          return [
            measuresWithLabels[measure],
            format(values[measure]),
            format(comparison?.values[measure]),
            formatChange(comparison?.differences[measure], comparison?.percents[measure], format),
          ];
        }),
      });
      if (!groupBy) continue;
      const ranked = sequentialGroups.includes(groupBy) ? rows : rankByChange(rows);
      answer.addTable({
        columns: [groupBy, `sales now (${currency ?? "unknown currency"})`, "before", "change"],
        rows: ranked
          .slice(0, limit)
          .map((row) => [
            describeRowPosition(groupBy, row),
            formatDecimalAmount(row.values.sales ?? 0, currency),
            formatDecimalAmount(row.comparison?.values.sales ?? 0, currency),
            formatChange(row.comparison?.differences.sales, row.comparison?.percents.sales, (value) =>
              formatDecimalAmount(value, currency),
            ),
          ]),
        describeRest: (shownCount) => {
          const shown = ranked.slice(0, shownCount).reduce((sum, row) => sum + changeOf(row), 0);
          const rest = (comparison?.differences.sales ?? 0) - shown;
          const count = rows.length - shownCount + (omittedRowCount ?? 0);
          return describeOmittedRows(
            count,
            `change of sales ${formatSigned(rest, (value) => formatAmount(value, currency))}`,
          );
        },
      });
    }
    if (metrics.totals.length === 0) answer.add("There are no figures for either period.");
    answer.add(describeMissingReports(metrics), describeOpenShifts(period));
    const next = { ...periodArgumentsOf(period), ...location.args };
    if (groupBy !== "product" && !filters)
      answer.addNext("compare_periods", { ...next, compareWith, groupBy: "product" }, "see which products changed");
    return answer
      .addNext("sales_summary", { ...next, groupBy: "day", ...(filters && { filters }) }, "see the single days")
      .toString();
  },
});

const changeOf = (row: MetricRow) => row.comparison?.differences.sales ?? 0;

const rankByChange = (rows: MetricRow[]) =>
  [...rows].sort((one, other) => Math.abs(changeOf(other)) - Math.abs(changeOf(one)));

/** Returns the value of a row, with that of the earlier period if it differs, such as `2026-05-29 (2026-05-22)`. */
function describeRowPosition(groupBy: MetricDimension, { dimensions, comparison }: MetricRow): string {
  const now = describeDimensionValue(groupBy, dimensions);
  const before = comparison ? describeDimensionValue(groupBy, comparison.dimensions) : now;
  return before === now ? now : `${now} (${before})`;
}

function formatValue(value: number | null | undefined, measure: MetricMeasure, currency: string | null): string {
  if (value === null || value === undefined) return "none";
  return countMeasures.includes(measure) ? String(value) : formatAmount(value, currency);
}

function formatSigned(value: number, format: (value: number) => string): string {
  return value > 0 ? `+${format(value)}` : format(value);
}

function formatChange(
  difference: number | null | undefined,
  percent: number | null | undefined,
  format: (value: number) => string,
): string {
  if (difference === null || difference === undefined) return "-";
  const text = formatSigned(difference, format);
  return percent === null || percent === undefined ? text : `${text} (${formatSigned(percent, String)}%)`;
}
