import { nullOnProblem } from "@pragma/client";
import { countDays } from "@pragma/contracts/date-time";
import {
  getMetricDimension,
  getMetricMeasure,
  type MetricDimension,
  type MetricMeasure,
} from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues, MetricRow, Metrics, MetricTotals, MetricValues } from "@pragma/contracts/metrics";
import { type MetricComparison, metricComparisonNames, metricLimits } from "@pragma/contracts/metrics-query";
import { divideRoundingHalfAway } from "@pragma/contracts/money";
import { z } from "zod";
import { type ToolContext, ToolInputError } from "./define-tool.ts";
import { cleanText, describeAmountUnit, formatAmount, formatShare } from "./format-text.ts";
import { addDays, type DayRange, findSameDaysBefore, periodSchema, type Selection } from "./period.ts";
import { type Row, rowSchema, rowsSchema } from "./rows.ts";

const maxFilterValueLength = 200;
/** A service accepts a request line and headers of 16 KB. */
const maxEncodedFiltersLength = 6_000;

const filtersArgument = z
  .record(
    z.string(),
    z
      .array(z.union([z.string().max(maxFilterValueLength), z.int()]))
      .min(1)
      .max(metricLimits.filterValues),
  )
  .refine((filters) => encodeURIComponent(JSON.stringify(filters)).length <= maxEncodedFiltersLength, {
    error: `Must be shorter: at most ${maxEncodedFiltersLength} characters in percent-encoding. Use fewer or shorter values`,
  });

export const figureArguments = {
  compareWith: z.enum(metricComparisonNames).optional().describe("Rows are then ranked by their change"),
  filters: filtersArgument
    .optional()
    .describe('Accepted values by dimension, e.g. {"room":["Terrasse"],"weekday":["friday"]}'),
};

export const figuresOutput = {
  period: periodSchema,
  comparedWith: z.object({ since: z.string(), until: z.string(), reason: z.string() }).optional(),
  currencies: z.array(
    z.object({
      amountsIn: z.string(),
      totals: rowSchema,
      comparison: rowsSchema.optional(),
      salesOfNoProduct: z.string().nullable().optional(),
      rows: rowsSchema,
      leftOut: rowSchema.optional(),
    }),
  ),
};

type FilterValues = z.infer<typeof filtersArgument>;

export interface FiguresQuery {
  /** The first one ranks the rows, and its sum states how much of the total is left out. */
  measures: readonly [MetricMeasure, ...MetricMeasure[]];
  dimensions?: MetricDimension[];
  compareWith?: MetricComparison | undefined;
  filters?: FilterValues | undefined;
  isAscending?: boolean;
  limit: number;
}

export async function readFigures(context: ToolContext, selection: Selection, query: FiguresQuery) {
  const { metrics, reason } = await readMetrics(context, selection, query);
  const { compareSince, compareUntil, missingReportCount, totals } = metrics;
  const comparedWith = query.compareWith &&
    compareSince &&
    compareUntil && { since: compareSince, until: compareUntil, reason };
  const figures = totals.flatMap(({ values, comparison }) => [values, comparison?.values ?? {}].flatMap(Object.values));
  return {
    period: selection.period,
    ...(comparedWith && { comparedWith }),
    currencies: totals.map((total) => describeCurrency(metrics, total, query)),
    notes: [
      ...selection.notes,
      figures.some((figure) => figure) ? undefined : "There are no figures for this period. See the tool days.",
      missingReportCount > 0
        ? `Incomplete: ${missingReportCount} reports are not part of these figures, because their amounts are too large.`
        : undefined,
    ],
  };
}

/**
 * Returns the currency of a location's figures in a period, or in the last days of a long one; null if they have several
 * currencies, and undefined if the API key must not read them. Throws other errors: amounts with wrong decimals would be
 * worse.
 */
export async function findCurrency(
  { api }: ToolContext,
  { location, period: { since, until } }: { location: Selection["location"]; period: DayRange },
): Promise<string | null | undefined> {
  const earliest = addDays(until, 1 - metricLimits.days);
  const query = { measures: "sales", since: since < earliest ? earliest : since, until, ...location };
  const found = await nullOnProblem(api.GET("/v1/metrics", { params: { query } }), "scope_missing");
  if (found === null) return undefined;
  const { totals } = found.data;
  return totals.length === 1 ? (totals[0]?.currency ?? null) : null;
}

const isTime = (dimension: MetricDimension) => getMetricDimension(dimension).group === "time";

/** Returns figures with those of the earlier period in `comparison`, and how the earlier one was chosen. */
async function readMetrics(
  { api }: ToolContext,
  { period, location }: Selection,
  { measures, dimensions = [], compareWith, filters, isAscending, limit }: FiguresQuery,
): Promise<{ metrics: Metrics; reason: string }> {
  const [group, thenBy] = dimensions;
  const byValue = `${isAscending ? "" : "-"}${measures[0]}`;
  const sort = thenBy ? `${group},${byValue}` : group && (isTime(group) || group === "hour") ? group : byValue;
  const read = async ({ since, until }: DayRange, compare?: MetricComparison) => {
    const query = {
      measures: measures.join(","),
      ...(group && { dimensions: dimensions.join(","), sort }),
      since,
      until,
      ...(compare && { compare }),
      ...(filters && { filters: JSON.stringify(filters) }),
      // The API cannot sort by changes, so the tool needs all rows.
      limit: compareWith ? metricLimits.rows : limit,
      ...location,
    };
    return (await api.GET("/v1/metrics", { params: { query } })).data as Metrics;
  };
  if (!compareWith) return { metrics: await read(period), reason: "" };
  const earlier = compareWith === "previous_period" ? findSameDaysBefore(period) : undefined;
  if (!earlier) {
    const isYear = compareWith === "previous_period" && period.name === "this_year";
    const reason = isYear ? `${compareWith}: the same dates of the year before` : compareWith;
    return { metrics: await read(period, isYear ? "previous_year" : compareWith), reason };
  }
  if (dimensions.includes("week") || dimensions.includes("month"))
    throw new ToolInputError("A week or month that is not over cannot be compared by week or month. Use groupBy day.");
  const [now, before] = await Promise.all([read(period), read(earlier)]);
  if (group && now.omittedRowCount + before.omittedRowCount > 0) {
    throw new ToolInputError(
      `There are more than ${metricLimits.rows} rows by ${dimensions.join(" and ")}, which are too many to compare. Use another groupBy, such as category, or add filters.`,
    );
  }
  const unit = period.name === "this_week" ? "week" : "month";
  return { metrics: joinPeriods(now, before), reason: `${compareWith}: the same days of the ${unit} before` };
}

/**
 * Returns the figures of two periods, with the values of the earlier one in `comparison`. With `previous_period`, the API
 * compares with the days immediately before, which are other weekdays. Days correspond by their position in the period.
 */
export function joinPeriods(now: Metrics, before: Metrics): Metrics {
  const shift = countDays({ since: before.since, until: now.since }) - 1;
  const move = (at: MetricDimensionValues, days: number) => (at.day ? { ...at, day: addDays(at.day, days) } : at);
  const keyOf = ({ currency, dimensions }: MetricRow) => JSON.stringify([currency, dimensions]);
  const empty: MetricValues = Object.fromEntries(
    now.measures.map((measure) => [measure, getMetricMeasure(measure).average ? null : 0]),
  );
  const compare = (values = empty) => ({ values, differences: {}, percents: {} });
  const moved = before.data.map((row) => ({ ...row, dimensions: move(row.dimensions, shift) }));
  const earlier = new Map(moved.map((row) => [keyOf(row), row]));
  const known = new Set(now.data.map(keyOf));
  const missing = moved.filter((row) => !known.has(keyOf(row))).map((row) => ({ ...row, values: empty }));
  const data = [...now.data, ...missing].map((row) => ({
    ...row,
    comparison: { dimensions: move(row.dimensions, -shift), ...compare(earlier.get(keyOf(row))?.values) },
  }));
  const dayOf = ({ dimensions: { day } }: MetricRow) => Date.parse(day ?? now.since);
  return {
    ...now,
    compareSince: before.since,
    compareUntil: before.until,
    data: data.sort((one, other) => dayOf(one) - dayOf(other)),
    totals: now.totals.map((total) => ({
      ...total,
      comparison: compare(before.totals.find(({ currency }) => currency === total.currency)?.values),
    })),
    missingReportCount: now.missingReportCount + before.missingReportCount,
  };
}

/** Returns the figures of one currency. With an earlier period, rows have only the first measure, and its change. */
function describeCurrency(metrics: Metrics, { currency, ...total }: MetricTotals, query: FiguresQuery) {
  const { measures, dimensions = [], compareWith, limit } = query;
  const [rankedBy] = measures;
  const earlier = compareWith && total.comparison?.values;
  const format = (measure: MetricMeasure, value: number | null | undefined) =>
    getMetricMeasure(measure).unit === "count" ? (value ?? null) : formatAmount(value, currency);
  const compare = (measure: MetricMeasure, now: MetricValues, before: MetricValues = {}) => {
    const [value, valueBefore] = [now[measure] ?? null, before[measure] ?? null];
    const difference = value === null || valueBefore === null ? null : value - valueBefore;
    const percent =
      difference === null || !valueBefore
        ? null
        : divideRoundingHalfAway(BigInt(difference) * 10_000n, BigInt(Math.abs(valueBefore))) / 100;
    return {
      now: format(measure, value),
      before: format(measure, valueBefore),
      change: format(measure, difference),
      changePercent: percent,
    };
  };
  const rankedValue = (now: MetricValues, before: MetricValues = {}) =>
    (now[rankedBy] ?? 0) - (earlier ? (before[rankedBy] ?? 0) : 0);
  const rows = dimensions.length === 0 ? [] : metrics.data.filter((row) => row.currency === currency);
  const changeOf = (row: MetricRow) => rankedValue(row.values, row.comparison?.values);
  if (earlier && !dimensions.some(isTime))
    rows.sort((one, other) => Math.abs(changeOf(other)) - Math.abs(changeOf(one)));
  const shown = rows.slice(0, limit);
  // With several currencies, the API does not state of which currency the omitted rows are.
  const omitted = dimensions.length > 0 && metrics.totals.length === 1 ? metrics.omittedRowCount : 0;
  const leftOut = rows.length - shown.length + omitted;
  const rest = shown.reduce((sum, row) => sum - changeOf(row), rankedValue(total.values, earlier));
  const formatAll = (values: MetricValues): Row =>
    Object.fromEntries(measures.map((measure) => [measure, format(measure, values[measure])]));
  return {
    amountsIn: describeAmountUnit(currency),
    totals: formatAll(total.values),
    ...(earlier && {
      comparison: measures.map((measure) => ({ measure, ...compare(measure, total.values, earlier) })),
    }),
    ...(total.unattributed?.sales && { salesOfNoProduct: formatAmount(total.unattributed.sales, currency) }),
    rows: shown.map(({ dimensions: at, values, comparison }): Row => {
      const dayBefore = dimensions.includes("day") && comparison?.dimensions.day;
      return {
        ...Object.fromEntries(dimensions.map((name) => [name, describeDimensionValue(name, at)])),
        ...(dayBefore && { dayBefore }),
        ...(earlier
          ? compare(rankedBy, values, comparison?.values)
          : { ...formatAll(values), share: formatShare(values[rankedBy] ?? 0, total.values[rankedBy] ?? 0) }),
      };
    }),
    ...(leftOut > 0 && { leftOut: { rows: leftOut, [earlier ? "change" : rankedBy]: format(rankedBy, rest) } }),
  };
}

function describeDimensionValue(dimension: MetricDimension, values: MetricDimensionValues): string {
  const value: unknown = values[dimension];
  if (value === null || value === undefined) return "(none)";
  if (dimension === "hour") return `${String(value).padStart(2, "0")}:00`;
  if (dimension === "taxRate") return `${Number(value) / 100}%`;
  if (typeof value !== "object") return cleanText(String(value));
  const { name, id, mode, gifted, afterFinalization } = value as Record<string, unknown>;
  const details = [
    ...(typeof mode === "string" && mode !== String(name).toLowerCase() ? [mode] : []),
    ...(gifted === true ? ["free"] : []),
    ...(afterFinalization === true ? ["after the bill"] : []),
  ];
  const fallback = dimension === "cancellationReason" ? "(no reason)" : `(no name${id ? `, ${id}` : ""})`;
  const text = dimension === "location" ? String(id) : cleanText(name as string | null, fallback);
  return details.length > 0 ? `${text} (${details.join(", ")})` : text;
}
