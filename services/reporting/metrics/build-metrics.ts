import { getMetricDimension, getMetricMeasure, type MetricMeasure } from "@pragma/contracts/metric-definitions";
import type { MetricRow, Metrics, MetricTotals, MetricValues } from "@pragma/contracts/metrics";
import type { MetricsQuery } from "@pragma/contracts/metrics-query";
import { addMoneyAmounts, divideRoundingHalfAway } from "@pragma/contracts/money";
import { createDimensionComparator, type RowKey, toDimensionValues, toRowKey } from "./dimension-keys.ts";
import { mapInTurns } from "./map-in-turns.ts";
import { type DayRange, formatDay } from "./metric-periods.ts";
import { listUnattributedMeasures, type MetricSum } from "./metric-sources.ts";
import type { MetricGroup } from "./queries/metric-groups.ts";

type Sums = MetricGroup["sums"];

/** What an answer is built from. */
export interface MetricFigures {
  /** The range of the query, and the earlier range if there is a comparison. */
  periods: readonly [DayRange, ...DayRange[]];
  /** The different currencies of the locations, sorted. Groups name them by their index. */
  currencies: readonly (string | null)[];
  groups: readonly MetricGroup[];
  /** The sums of orders of the first period, by currency; undefined unless `hasUnattributedPart`. */
  orderGroups: readonly MetricGroup[] | undefined;
  missingReportCount: number;
}

interface Row {
  currencyIndex: number;
  key: RowKey;
  sums: (Sums | undefined)[];
  values: MetricValues;
}

/**
 * Returns the response to a query. Other requests are handled in between, because a query can have thousands of rows.
 *
 * @throws `AmountOutOfRangeError` if a sum is not a safe integer, and the reason of `signal` if it is aborted.
 */
export async function buildMetrics(query: MetricsQuery, figures: MetricFigures, signal: AbortSignal): Promise<Metrics> {
  const { measures, dimensions } = query;
  const { periods, currencies, missingReportCount } = figures;
  const [range, comparedRange] = periods;
  const rows = await listRows(query, figures, signal);
  rows.sort(createRowComparator(query));
  const shown = rows.slice(0, query.limit);
  const toMetricRow = ({ currencyIndex, key, values, sums }: Row): MetricRow => ({
    currency: currencies[currencyIndex] ?? null,
    dimensions: toDimensionValues(dimensions, key, range),
    values,
    comparison: comparedRange
      ? { dimensions: toDimensionValues(dimensions, key, comparedRange), ...compare(measures, values, sums[1]) }
      : null,
  });
  return {
    since: formatDay(range.first),
    until: formatDay(range.last),
    compareSince: comparedRange ? formatDay(comparedRange.first) : null,
    compareUntil: comparedRange ? formatDay(comparedRange.last) : null,
    measures,
    dimensions,
    data: await mapInTurns(shown, toMetricRow, signal),
    totals: currencies.map((_, currencyIndex) => buildTotals(query, figures, { currencyIndex, rows })),
    rowCount: shown.length,
    omittedRowCount: rows.length - shown.length,
    missingReportCount,
  };
}

async function listRows(
  { measures, dimensions }: MetricsQuery,
  { periods, currencies, groups }: MetricFigures,
  signal: AbortSignal,
): Promise<Row[]> {
  const rows = new Map<string, Row>();
  const getRow = (currencyIndex: number, key: RowKey) => {
    const text = JSON.stringify([currencyIndex, key]);
    const existing = rows.get(text);
    if (existing) return existing;
    const row: Row = { currencyIndex, key, sums: [], values: {} };
    rows.set(text, row);
    return row;
  };
  // Without dimensions, each currency has a row, also without reports.
  if (dimensions.length === 0) for (const index of currencies.keys()) getRow(index, []);
  const addGroup = ({ periodIndex, currencyIndex, keys, sums }: MetricGroup) => {
    const range = periods[periodIndex];
    if (range) getRow(currencyIndex, toRowKey(dimensions, keys, range)).sums[periodIndex] = sums;
  };
  await mapInTurns(groups, addGroup, signal);
  const addValues = (row: Row): Row => ({ ...row, values: computeValues(measures, row.sums[0]) });
  return mapInTurns(rows.values(), addValues, signal);
}

/** Returns the values of measures; 0 for sums without a group, and null for averages without a divisor. */
function computeValues(measures: readonly MetricMeasure[], sums: Sums = {}): MetricValues {
  const values: MetricValues = {};
  for (const measure of measures) {
    const { average } = getMetricMeasure(measure);
    if (!average) {
      values[measure] = sums[measure as MetricSum] ?? 0;
      continue;
    }
    const dividend = sums[average.dividend as MetricSum] ?? 0;
    const divisor = sums[average.divisor as MetricSum] ?? 0;
    values[measure] = divisor > 0 ? divideRoundingHalfAway(dividend, divisor) : null;
  }
  return values;
}

function compare(measures: readonly MetricMeasure[], values: MetricValues, earlierSums: Sums | undefined) {
  const earlier = computeValues(measures, earlierSums);
  const differences: MetricValues = {};
  const percents: MetricValues = {};
  for (const measure of measures) {
    const value = values[measure] ?? null;
    const earlierValue = earlier[measure] ?? null;
    const difference = value === null || earlierValue === null ? null : addMoneyAmounts(value, -earlierValue);
    differences[measure] = difference;
    percents[measure] = difference === null || earlierValue === null ? null : computePercent(difference, earlierValue);
  }
  return { values: earlier, differences, percents };
}

/** Returns a difference in percent of the absolute earlier value, with two decimals; null if the earlier value is 0. */
function computePercent(difference: number, earlier: number): number | null {
  if (earlier === 0) return null;
  return divideRoundingHalfAway(BigInt(difference) * 10_000n, BigInt(Math.abs(earlier))) / 100;
}

function buildTotals(
  { measures }: MetricsQuery,
  { periods, currencies, orderGroups }: MetricFigures,
  { currencyIndex, rows }: { currencyIndex: number; rows: readonly Row[] },
): MetricTotals {
  const rowsOfCurrency = rows.filter((row) => row.currencyIndex === currencyIndex);
  const [sums = {}, earlierSums] = periods.map((_, index) => addUp(rowsOfCurrency.map((row) => row.sums[index])));
  const values = computeValues(measures, sums);
  const orderSums = orderGroups?.find((group) => group.currencyIndex === currencyIndex)?.sums ?? {};
  const unattributed = listUnattributedMeasures({ measures }).map((measure) => [
    measure,
    addMoneyAmounts(orderSums[measure] ?? 0, -(sums[measure] ?? 0)),
  ]);
  return {
    currency: currencies[currencyIndex] ?? null,
    values,
    comparison: periods[1] ? compare(measures, values, earlierSums) : null,
    unattributed: orderGroups ? Object.fromEntries(unattributed) : null,
  };
}

function addUp(parts: readonly (Sums | undefined)[]): Sums {
  const total: Sums = {};
  for (const part of parts)
    for (const [sum, value] of Object.entries(part ?? {}) as [MetricSum, number][])
      total[sum] = addMoneyAmounts(total[sum] ?? 0, value);
  return total;
}

/** Returns a comparator of rows: by currency, the fields of the query, the first measure, and finally all dimensions. */
function createRowComparator({ measures, dimensions, sort }: MetricsQuery): (one: Row, other: Row) => number {
  const timeFields = dimensions
    .filter((name) => getMetricDimension(name).group === "time")
    .map((name) => ({ name, isDescending: false }));
  const byFirstMeasure = measures.slice(0, 1).map((name) => ({ name, isDescending: true }));
  const byDimensions = dimensions.map((name) => ({ name, isDescending: false }));
  const fields = [...(sort.length > 0 ? sort : timeFields), ...byFirstMeasure, ...byDimensions];
  const comparators = fields.map(({ name, isDescending }) => {
    const sign = isDescending ? -1 : 1;
    const dimension = dimensions.find((candidate) => candidate === name);
    if (dimension === undefined) {
      const measure = name as MetricMeasure;
      return (one: Row, other: Row) => compareValues(one.values[measure], other.values[measure], sign);
    }
    const compareKeys = createDimensionComparator(dimensions, dimension);
    return (one: Row, other: Row) => sign * compareKeys(one.key, other.key);
  });
  return (one, other) => {
    if (one.currencyIndex !== other.currencyIndex) return one.currencyIndex - other.currencyIndex;
    for (const comparator of comparators) {
      const compared = comparator(one, other);
      if (compared !== 0) return compared;
    }
    return 0;
  };
}

function compareValues(one: number | null | undefined, other: number | null | undefined, sign: number): number {
  if (one === other) return 0;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  return sign * (one - other);
}
