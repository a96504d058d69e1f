import type { MetricDimension, MetricMeasure } from "@pragma/contracts/metric-definitions";
import { canMeasureByDimension, metricDimensionNames } from "@pragma/contracts/metric-definitions";
import type { MetricDimensionValues, MetricRow, Metrics } from "@pragma/contracts/metrics";
import type { MetricComparison } from "@pragma/contracts/metrics-query";
import { z } from "zod";
import { cleanText, formatCount } from "./answer.ts";
import type { ToolLocation } from "./location.ts";
import type { Period } from "./period.ts";
import type { ToolContext } from "./tool.ts";

const isDimension = (name: string): name is MetricDimension =>
  (metricDimensionNames as readonly string[]).includes(name);

/** The argument that restricts the figures of a tool to values of dimensions. */
export const filtersArgument = {
  filters: z
    .record(z.string(), z.array(z.union([z.string(), z.int()])).min(1))
    .refine((filters): filters is MetricFilterValues => Object.keys(filters).every(isDimension), {
      error: `Must have only keys that are dimensions: ${metricDimensionNames.join(", ")}`,
    })
    .optional()
    .describe('Accepted values by dimension, e.g. {"room":["Terrasse"],"weekday":["friday"]}'),
};

type MetricFilterValues = Partial<Record<MetricDimension, (string | number)[]>>;

/** Returns the measures that go with dimensions, and with filters by dimensions. */
export function filterMeasures<Measure extends MetricMeasure>(
  measures: readonly Measure[],
  { groupBy, filters = {} }: { groupBy?: MetricDimension | undefined; filters?: MetricFilterValues | undefined },
): Measure[] {
  const dimensions = [...(groupBy ? [groupBy] : []), ...Object.keys(filters).filter(isDimension)];
  return measures.filter((measure) => dimensions.every((dimension) => canMeasureByDimension(measure, dimension)));
}

/** The maximum of `limit` of the API, for answers whose rows the tool sorts itself. */
export const maxMetricRows = 1_000;

interface MetricsRequest {
  location: ToolLocation;
  period: Pick<Period, "since" | "until">;
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

/** Returns the currency of a location's figures in a period; null if it has none, several, or the key must not read them. */
export async function findCurrency(
  context: ToolContext,
  { location, period }: Pick<MetricsRequest, "location" | "period">,
): Promise<string | null> {
  try {
    const { totals } = await getMetrics(context, { location, period, measures: ["sales"] });
    return totals.length === 1 ? (totals[0]?.currency ?? null) : null;
  } catch {
    return null;
  }
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

/** Returns a note if reports are missing in the figures. */
export function describeMissingReports({ missingReportCount }: Metrics): string | undefined {
  return missingReportCount === 0
    ? undefined
    : `Incomplete: ${formatCount(missingReportCount, "report is", "reports are")} not part of these figures yet. Ask again in a few minutes.`;
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

/** Returns a line about rows that are not shown, with the part of a total that they have; undefined if all are shown. */
export function describeOmittedRows(count: number, sums: string): string | undefined {
  return count > 0 ? `Left out: ${formatCount(count, "row")} (${sums})` : undefined;
}
