import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import {
  canMeasureByDimension,
  listMeasuresOfDimension,
  metricDimensionNames,
} from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues, MetricRow, Metrics } from "@pragma/contracts/metrics";
import { type MetricComparison, metricLimits } from "@pragma/contracts/metrics-query";
import { hasScope } from "@pragma/contracts/scopes";
import { z } from "zod";
import type { Answer } from "./answer.ts";
import { type ToolContext, ToolInputError } from "./define-tool.ts";
import { cleanText, formatCount } from "./format-text.ts";
import type { ToolLocation } from "./location.ts";
import { addDays, type DayRange, describeIncompleteToday, type Period } from "./period.ts";

const isDimension = (name: string): name is MetricDimension =>
  (metricDimensionNames as readonly string[]).includes(name);

const maxFilterValueLength = 200;
/** A service accepts a request line and headers of 16 KB. */
const maxEncodedFiltersLength = 6_000;

/** Returns filters as in a URL. */
const encodeFilters = (filters: object) => new URLSearchParams({ filters: JSON.stringify(filters) }).toString();

/** The argument that restricts the figures of a tool to values of dimensions. */
export const filtersArgument = {
  filters: z
    .record(
      z.string(),
      z
        .array(z.union([z.string().max(maxFilterValueLength), z.int()]))
        .min(1)
        .max(metricLimits.filterValues),
    )
    .refine((filters): filters is MetricFilterValues => Object.keys(filters).every(isDimension), {
      error: `Must have only keys that are dimensions: ${metricDimensionNames.join(", ")}`,
    })
    .refine((filters) => Object.keys(filters).length <= metricLimits.filterDimensions, {
      error: `Must have at most ${metricLimits.filterDimensions} dimensions`,
    })
    .refine((filters) => encodeFilters(filters).length <= maxEncodedFiltersLength, {
      error: `Must be shorter: at most ${maxEncodedFiltersLength} characters in percent-encoding. Use fewer or shorter values`,
    })
    .optional()
    .describe('Accepted values by dimension, e.g. {"room":["Terrasse"],"weekday":["friday"]}'),
};

type MetricFilterValues = Partial<Record<MetricDimension, (string | number)[]>>;

/**
 * Returns the measures that go with dimensions, and with filters by dimensions.
 *
 * @throws `ToolInputError` if a filter goes with none of them.
 */
export function filterMeasures<Measure extends MetricMeasure>(
  measures: readonly Measure[],
  { groupBy, filters = {} }: { groupBy?: MetricDimension | undefined; filters?: MetricFilterValues | undefined },
): [Measure, ...Measure[]] {
  const filterDimensions = Object.keys(filters).filter(isDimension);
  const dimensions = [...(groupBy ? [groupBy] : []), ...filterDimensions];
  const canMeasure = (measure: MetricMeasure) =>
    dimensions.every((dimension) => canMeasureByDimension(measure, dimension));
  const [first, ...others] = measures.filter(canMeasure);
  if (first !== undefined) return [first, ...others];
  const wrong = filterDimensions.filter((name) => !measures.some((measure) => canMeasureByDimension(measure, name)));
  const reason =
    wrong.length > 0
      ? wrong.map((name) => `${name} goes only with ${listMeasuresOfDimension(name).join(", ")}`).join("; ")
      : `no figure goes with ${dimensions.join(", ")} together. Remove one of them`;
  throw new ToolInputError(
    `The filters do not go with this tool: ${reason}.\nOther tools: payments_breakdown for payments and tips by paymentMethod, cancellations_and_discounts for discounts and cancellations, compare_periods for all of them with filters.`,
  );
}

/** The maximum of `limit` of the API, for answers whose rows the tool sorts itself. */
export const maxMetricRows = 1_000;

export interface MetricsRequest {
  location: ToolLocation;
  period: DayRange;
  measures: readonly MetricMeasure[];
  dimensions?: readonly MetricDimension[];
  compare?: MetricComparison;
  filters?: MetricFilterValues | undefined;
  sort?: string;
  limit?: number;
}

/** Requests figures from the API. */
export function getMetrics(
  { api }: ToolContext,
  { location, period, measures, dimensions = [], compare, filters, sort, limit }: MetricsRequest,
): Promise<Metrics> {
  return api.get<Metrics>("/v1/metrics/", {
    measures: measures.join(","),
    ...(dimensions.length > 0 && { dimensions: dimensions.join(",") }),
    since: period.since,
    until: period.until,
    compare,
    ...(filters && { filters: JSON.stringify(filters) }),
    sort,
    limit,
    ...location.query,
  });
}

/**
 * Returns the currency of a location's figures in a period, or in the last days of a long one; null if they have several
 * currencies, or if the API key must not read them.
 *
 * @throws `ApiProblem` or `ApiError` if the figures cannot be read now: amounts with a wrong number of decimals would be worse.
 */
export async function findCurrency(
  context: ToolContext,
  { location, period: { since, until } }: Pick<MetricsRequest, "location" | "period">,
): Promise<string | null> {
  if (!hasScope(context.principal.scopes, "reports:read")) return null;
  const earliestSince = addDays(until, 1 - metricLimits.days);
  const period = { since: since < earliestSince ? earliestSince : since, until };
  const { totals } = await getMetrics(context, { location, period, measures: ["sales"] });
  return totals.length === 1 ? (totals[0]?.currency ?? null) : null;
}

/** The part of a response in one currency. */
export interface CurrencyMetrics {
  currency: string | null;
  totals: Metrics["totals"][number];
  rows: MetricRow[];
  /** The number of rows that the API left out because of `limit`; undefined if rows of several currencies were left out. */
  omittedRowCount: number | undefined;
}

/** Returns the totals and rows of a response by currency. */
export function splitByCurrency({ totals, data, omittedRowCount }: Metrics): CurrencyMetrics[] {
  return totals.map((total) => ({
    currency: total.currency,
    totals: total,
    rows: data.filter(({ currency }) => currency === total.currency),
    omittedRowCount: totals.length === 1 ? omittedRowCount : undefined,
  }));
}

/** Adds what an answer with figures states at its end. */
export function addNotesOnMetrics(answer: Answer, metrics: Metrics, period: Period): void {
  const covered = metrics.compareSince === null ? "this period" : "either period";
  if (!hasFigures(metrics)) answer.add(`There are no figures for ${covered}.`);
  answer.add(describeMissingReports(metrics), describeIncompleteToday(period));
}

/** Returns whether a period, or the one that it is compared with, has a figure other than 0. */
export function hasFigures({ totals }: Metrics): boolean {
  const isFigure = (value: number | null | undefined) => value !== null && value !== undefined && value !== 0;
  return totals.some(({ values, comparison }) =>
    [...Object.values(values), ...Object.values(comparison?.values ?? {})].some(isFigure),
  );
}

/** Returns a note if reports are missing in the figures. */
function describeMissingReports({ missingReportCount }: Metrics): string | undefined {
  return missingReportCount === 0
    ? undefined
    : `Incomplete: ${formatCount(missingReportCount, "report is", "reports are")} not part of these figures yet. Reports from before an upgrade are added in the background, which can take days.`;
}

/** Returns the value of a dimension in a row as text. */
export function describeDimensionValue(dimension: MetricDimension, values: MetricDimensionValues): string {
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

interface RestOfRows {
  rows: MetricRow[];
  omittedRowCount: number | undefined;
  /** The sum of all rows, including omitted ones. */
  total: number;
  getValue(row: MetricRow): number;
  describeSum(sum: number): string;
}

/** Returns a function that describes the rows that a table does not show, with the part of the total that they have. */
export function createRestDescription({ rows, omittedRowCount = 0, total, getValue, describeSum }: RestOfRows) {
  return (shownCount: number): string | undefined => {
    const count = omittedRowCount + rows.length - shownCount;
    const rest = rows.slice(0, shownCount).reduce((sum, row) => sum - getValue(row), total);
    return count > 0 ? `Left out: ${formatCount(count, "row")} (${describeSum(rest)})` : undefined;
  };
}
