import { countDays } from "@pragma/contracts/date-time";
import { getMetricMeasure, type MetricDimension, type MetricMeasure } from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues, MetricRow, Metrics, MetricTotals, MetricValues } from "@pragma/contracts/metrics";
import { divideRoundingHalfAway } from "@pragma/contracts/money";
import { type ToolContext, ToolInputError } from "./define-tool.ts";
import { addDays, type DayRange } from "./period.ts";
import { getMetrics, type MetricsRequest, maxMetricRows } from "./request-metrics.ts";

export interface ComparedMetricsRequest extends Pick<MetricsRequest, "location" | "period" | "measures" | "filters"> {
  groupBy: MetricDimension | undefined;
  earlierPeriod: DayRange;
}

/**
 * Returns the figures of two periods, with the fields of an API response with `compare`. The API itself compares only with
 * the days immediately before, and with the year before.
 *
 * @throws `ToolInputError` if the API omits rows, which could then not be compared.
 */
export async function getComparedMetrics(context: ToolContext, request: ComparedMetricsRequest): Promise<Metrics> {
  const { groupBy, earlierPeriod, ...selection } = request;
  const { period, measures } = selection;
  const dimensions = groupBy ? [groupBy] : [];
  const read = (range: DayRange) =>
    getMetrics(context, { ...selection, dimensions, period: range, limit: maxMetricRows });
  const [now, before] = await Promise.all([read(period), read(earlierPeriod)]);
  if (groupBy && now.omittedRowCount + before.omittedRowCount > 0) {
    throw new ToolInputError(
      `There are more than ${maxMetricRows} rows by ${groupBy}, which are too many to compare. Use another groupBy, such as category, or add filters.`,
    );
  }
  return {
    ...now,
    compareSince: earlierPeriod.since,
    compareUntil: earlierPeriod.until,
    data: groupBy ? joinRows({ measures, groupBy, period, earlierPeriod }, now.data, before.data) : now.data,
    totals: joinTotals(measures, now.totals, before.totals),
    missingReportCount: now.missingReportCount + before.missingReportCount,
  };
}

function joinTotals(measures: readonly MetricMeasure[], now: MetricTotals[], before: MetricTotals[]): MetricTotals[] {
  return now.map((total) => {
    const earlier = before.find(({ currency }) => currency === total.currency)?.values;
    return { ...total, comparison: compareValues(measures, total.values, earlier) };
  });
}

interface RowPair {
  currency: string | null;
  now?: MetricRow;
  before?: MetricRow;
  dimensions: MetricDimensionValues;
  earlierDimensions: MetricDimensionValues;
}

interface JoinOptions extends Pick<ComparedMetricsRequest, "measures" | "period" | "earlierPeriod"> {
  groupBy: MetricDimension;
}

/** Returns the rows of both periods. Days, weeks and months correspond by their position in the period. */
function joinRows(
  { measures, groupBy, period, earlierPeriod }: JoinOptions,
  now: MetricRow[],
  before: MetricRow[],
): MetricRow[] {
  const labels = listTimeLabels(groupBy, period);
  const earlierLabels = listTimeLabels(groupBy, earlierPeriod);
  const pairs = new Map<string, RowPair>();
  const add = (row: MetricRow, field: "now" | "before") => {
    const { currency, dimensions } = row;
    const position = (field === "now" ? labels : earlierLabels)?.indexOf(String(dimensions[groupBy]));
    const key = JSON.stringify([currency, position ?? dimensions]);
    const at = (list: string[] | undefined) =>
      list && position !== undefined ? { [groupBy]: list[position] ?? null } : dimensions;
    const pair = pairs.get(key) ?? { currency, dimensions: at(labels), earlierDimensions: at(earlierLabels) };
    pairs.set(key, { ...pair, [field]: row });
  };
  for (const row of now) add(row, "now");
  for (const row of before) add(row, "before");
  const rows = [...pairs.values()].map((pair): MetricRow => {
    const { currency, dimensions, earlierDimensions } = pair;
    const values = pair.now?.values ?? createEmptyValues(measures);
    const comparison = compareValues(measures, values, pair.before?.values);
    return { currency, dimensions, values, comparison: { dimensions: earlierDimensions, ...comparison } };
  });
  if (!labels) return rows;
  const positionOf = ({ dimensions, comparison }: MetricRow) => {
    const value = dimensions[groupBy];
    return value === null
      ? earlierLabels?.indexOf(String(comparison?.dimensions[groupBy]))
      : labels.indexOf(String(value));
  };
  return rows.sort((one, other) => (positionOf(one) ?? 0) - (positionOf(other) ?? 0));
}

/** Returns the values of a dimension of consecutive days, weeks or months in a period; undefined for other dimensions. */
function listTimeLabels(dimension: MetricDimension, { since, until }: DayRange): string[] | undefined {
  if (dimension !== "day" && dimension !== "week" && dimension !== "month") return undefined;
  const labels = new Set<string>();
  for (let day = since; day <= until; day = addDays(day, 1))
    labels.add(dimension === "day" ? day : dimension === "week" ? formatIsoWeek(day) : day.slice(0, 7));
  return [...labels];
}

/** Returns the ISO 8601 week of a day, such as 2026-W22. Its year is that of its Thursday. */
function formatIsoWeek(day: string): string {
  const thursday = addDays(day, 3 - ((new Date(day).getUTCDay() + 6) % 7));
  const year = thursday.slice(0, 4);
  const week = Math.ceil(countDays({ since: `${year}-01-01`, until: thursday }) / 7);
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** Returns the values of a period without data: 0 for sums, and null for averages. */
function createEmptyValues(measures: readonly MetricMeasure[]): MetricValues {
  return Object.fromEntries(measures.map((measure) => [measure, getMetricMeasure(measure).average ? null : 0]));
}

function compareValues(
  measures: readonly MetricMeasure[],
  values: MetricValues,
  earlier = createEmptyValues(measures),
) {
  const differences: MetricValues = {};
  const percents: MetricValues = {};
  for (const measure of measures) {
    const value = values[measure] ?? null;
    const earlierValue = earlier[measure] ?? null;
    const difference = value === null || earlierValue === null ? null : value - earlierValue;
    differences[measure] = difference;
    percents[measure] =
      difference === null || earlierValue === null || earlierValue === 0
        ? null
        : divideRoundingHalfAway(BigInt(difference) * 10_000n, BigInt(Math.abs(earlierValue))) / 100;
  }
  return { values: earlier, differences, percents };
}
