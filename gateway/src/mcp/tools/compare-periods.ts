import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { getMetricMeasure } from "@pragma/contracts/metric-definitions";
import type { MetricRow, Metrics } from "@pragma/contracts/metrics";
import { z } from "zod";
import { Answer } from "../answer.ts";
import { type ComparedMetricsRequest, getComparedMetrics } from "../compared-metrics.ts";
import { defineTool, type ToolContext } from "../define-tool.ts";
import { describeAmountUnit, formatAmount } from "../format-amount.ts";
import { findLocationAndPeriod, locationArgument } from "../location.ts";
import { describePeriod, findPeriodIssue, findSameDaysBefore, type Period, periodArguments } from "../period.ts";
import {
  addNotesOnMetrics,
  type CurrencyMetrics,
  createRestDescription,
  describeDimensionValue,
  filterMeasures,
  filtersArgument,
  getMetrics,
  type MetricsRequest,
  maxMetricRows,
  splitByCurrency,
} from "../request-metrics.ts";

const groups = [
  "day",
  "week",
  "month",
  "weekday",
  "hour",
  "room",
  "serviceType",
  "channel",
  "clerk",
  "product",
  "category",
  "subcategory",
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
  payments: "Payments",
  tips: "Tips",
} as const satisfies Partial<Record<MetricMeasure, string>>;
type ComparedMeasure = keyof typeof measuresWithLabels;
const measureNames = Object.keys(measuresWithLabels) as ComparedMeasure[];

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
    const { location, period, nextArgs } = await findLocationAndPeriod(context, args);
    const measures = filterMeasures(measureNames, { groupBy, filters });
    const request = { location, period, measures, filters, groupBy };
    const { metrics, comparison } = await getComparison(context, request, compareWith);
    const answer = new Answer().add(
      `${describePeriod(period, location)} compared with ${metrics.compareSince} to ${metrics.compareUntil} (${comparison})`,
    );
    for (const figures of splitByCurrency(metrics)) {
      addTotals(answer, figures, measures);
      if (groupBy) addChanges(answer, figures, { groupBy, measure: measures[0], limit });
    }
    addNotesOnMetrics(answer, metrics, period);
    const next = { ...nextArgs, ...(filters && { filters }) };
    if (groupBy !== "product" && !filters)
      answer.addNext("compare_periods", { ...next, compareWith, groupBy: "product" }, "see which products changed");
    if (measures.includes("sales")) answer.addNext("sales_summary", { ...next, groupBy: "day" }, "see the single days");
    else answer.addNext("compare_periods", { ...next, compareWith, groupBy: "day" }, "see the single days");
    return answer.toString();
  },
});

interface ComparisonRequest extends Pick<ComparedMetricsRequest, "location" | "measures" | "filters" | "groupBy"> {
  period: Period;
}

/** Returns the figures of a period and of an earlier one, and how the earlier one was chosen. */
async function getComparison(
  context: ToolContext,
  request: ComparisonRequest,
  compareWith: NonNullable<MetricsRequest["compare"]>,
): Promise<{ metrics: Metrics; comparison: string }> {
  const { period, groupBy, ...selection } = request;
  const isCurrent = compareWith === "previous_period";
  const earlierPeriod = isCurrent ? findSameDaysBefore(period) : undefined;
  if (earlierPeriod) {
    const metrics = await getComparedMetrics(context, { ...selection, period, groupBy, earlierPeriod });
    const unit = period.name === "this_week" ? "week" : "month";
    return { metrics, comparison: `${compareWith}: the same days of the ${unit} before` };
  }
  const isYear = isCurrent && period.name === "this_year";
  const metrics = await getMetrics(context, {
    ...selection,
    period,
    compare: isYear ? "previous_year" : compareWith,
    limit: maxMetricRows,
    ...(groupBy && { dimensions: [groupBy] }),
  });
  return { metrics, comparison: isYear ? `${compareWith}: the same dates of the year before` : compareWith };
}

function addTotals(answer: Answer, { currency, totals }: CurrencyMetrics, measures: ComparedMeasure[]): void {
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
}

interface ChangesOptions {
  groupBy: MetricDimension;
  /** The measure whose changes are shown. */
  measure: ComparedMeasure;
  limit: number;
}

function addChanges(answer: Answer, figures: CurrencyMetrics, { groupBy, measure, limit }: ChangesOptions): void {
  const { currency, totals, rows, omittedRowCount } = figures;
  const differenceOf = (row: MetricRow) => row.comparison?.differences[measure] ?? 0;
  const ranked = sequentialGroups.includes(groupBy)
    ? rows
    : rows.toSorted((one, other) => Math.abs(differenceOf(other)) - Math.abs(differenceOf(one)));
  const format = (value: number) => formatDecimalAmount(value, currency);
  answer.addTable({
    columns: [groupBy, `${measure} now (${describeAmountUnit(currency)})`, "before", "change"],
    rows: ranked
      .slice(0, limit)
      .map((row) => [
        describeRowPosition(groupBy, row),
        format(row.values[measure] ?? 0),
        format(row.comparison?.values[measure] ?? 0),
        formatChange(row.comparison?.differences[measure], row.comparison?.percents[measure], format),
      ]),
    describeRest: createRestDescription({
      rows: ranked,
      omittedRowCount,
      total: totals.comparison?.differences[measure] ?? 0,
      getValue: differenceOf,
      describeSum: (sum) => `change of ${measure} ${formatSigned(sum, (value) => formatAmount(value, currency))}`,
    }),
  });
}

/** Returns the value of a row, with that of the earlier period if it differs, such as `2026-05-29 (2026-05-22)`. */
function describeRowPosition(groupBy: MetricDimension, { dimensions, comparison }: MetricRow): string {
  const now = describeDimensionValue(groupBy, dimensions);
  const before = comparison ? describeDimensionValue(groupBy, comparison.dimensions) : now;
  return before === now ? now : `${now} (${before})`;
}

function formatValue(value: number | null | undefined, measure: MetricMeasure, currency: string | null): string {
  if (value === null || value === undefined) return "none";
  return getMetricMeasure(measure).unit === "count" ? String(value) : formatAmount(value, currency);
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
