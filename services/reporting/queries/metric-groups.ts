import type { MetricDimension } from "@pragma/contracts/metric-definitions";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { type DayRange, formatDay, listDaySpans } from "../metrics/metric-periods.ts";
import {
  canReadMonths,
  getMetricFamily,
  isStoredDimension,
  listMetricSums,
  listUsedDimensions,
  type MetricFamily,
  type MetricSelection,
  type MetricSum,
  metricColumns,
  toSumColumn,
} from "../metrics/metric-sources.ts";

/** A location, and the number of its currency in the answer. */
export interface MetricPlace {
  locationId: string;
  currency: number;
}

export interface MetricGroupsQuery extends MetricSelection {
  places: readonly MetricPlace[];
  /** The range of the query, and the earlier range if there is a comparison. */
  periods: readonly DayRange[];
  maxGroupsPerPeriod: number;
}

/** The sums of the rows with the same values of the dimensions. */
export interface MetricGroup {
  /** The index of the period. */
  period: number;
  currency: number;
  /**
   * The values of each dimension: numbers of days for day, of Mondays for week, and of first days for month, a number
   * from 0 for weekday, the id of a location, and otherwise the fields of the value.
   */
  keys: (number | string | boolean | null)[][];
  sums: Partial<Record<MetricSum, number>>;
}

/** The sums of a query exceed what a number can contain. */
export class MetricSumTooLargeError extends Error {}

/** Expressions for the dimensions that are not stored in arrays. Dates are numbers of days since 1970-01-01. */
const keyExpressions: Partial<Record<MetricDimension, string>> = {
  day: "source.day - date '1970-01-01'",
  week: "date_trunc('week', source.day)::date - date '1970-01-01'",
  month: "date_trunc('month', source.day)::date - date '1970-01-01'",
  weekday: "extract(isodow from source.day)::int - 1",
  location: "source.location_id",
};

/**
 * Returns the groups of a query. If there are more groups than the maximum in a period, returns at least one more.
 *
 * @throws `MetricSumTooLargeError`
 */
export async function listMetricGroups(tx: SqlTransaction, query: MetricGroupsQuery): Promise<MetricGroup[]> {
  const { dimensions, measures, periods, maxGroupsPerPeriod } = query;
  const sums = listMetricSums(measures);
  const { text, parameters, keyWidths } = buildStatement(query, sums, maxGroupsPerPeriod * periods.length + 1);
  if (parameters === null) return [];
  // Unnamed, because statements differ in their measures and dimensions, and each connection would keep all of them.
  const rows = await tx.unsafe<Record<string, unknown>[]>(text, parameters, { prepare: false }).values();
  return rows.map((row) => {
    let next = 0;
    const take = () => row[next++] as number | string | boolean | null;
    const period = Number(take());
    const currency = Number(take());
    const keys = dimensions.map((_, index) => Array.from({ length: keyWidths[index] ?? 1 }, take));
    const values: MetricGroup["sums"] = {};
    for (const sum of sums) {
      const value = Number(take());
      if (!Number.isSafeInteger(value)) throw new MetricSumTooLargeError(`${sum} is not a safe integer`);
      values[sum] = value;
    }
    return { period, currency, keys, sums: values };
  });
}

function buildStatement(query: MetricGroupsQuery, sums: MetricSum[], maxRows: number) {
  const { dimensions, filters, places, periods } = query;
  const parameters: (string | string[] | number[])[] = [];
  const bind = (value: (typeof parameters)[number], type: string) => `$${parameters.push(value)}::${type}`;

  const family = getMetricFamily(query);
  const usesMonths = canReadMonths(query);
  const spans = periods.flatMap((period, number) =>
    listDaySpans(period, filters, usesMonths).map((span) => ({ ...span, period: number })),
  );
  const acceptedPlaces = filterPlaces(places, filters.location);
  const keyColumns = dimensions.map((name) =>
    isStoredDimension(name)
      ? metricColumns[name].map(({ column }) => `"${getStoredFamily(name)}".${column}`)
      : [keyExpressions[name] ?? ""],
  );
  const keyWidths = keyColumns.map(({ length }) => length);
  if (spans.length === 0 || acceptedPlaces.length === 0) return { text: "", parameters: null, keyWidths };

  const [onlyPlace] = acceptedPlaces;
  // Tells PostgreSQL which partitions to plan.
  const isOfPlaces =
    onlyPlace && acceptedPlaces.length === 1
      ? `location_id = ${bind(onlyPlace.locationId, "uuid")}`
      : `location_id = any(${bind(
          acceptedPlaces.map(({ locationId }) => locationId),
          "uuid[]",
        )})`;
  const placeRows = `unnest(${bind(
    acceptedPlaces.map(({ locationId }) => locationId),
    "uuid[]",
  )}, ${bind(
    acceptedPlaces.map(({ currency }) => currency),
    "int[]",
  )}) as place (location_id, currency)`;
  const buildSpanRows = (selected: typeof spans) =>
    `unnest(${bind(
      selected.map(({ period }) => period),
      "int[]",
    )}, ${bind(
      selected.map(({ first }) => formatDay(first)),
      "date[]",
    )}, ${bind(
      selected.map(({ last }) => formatDay(last)),
      "date[]",
    )}, ${bind(
      // postgres.js cannot send arrays of booleans.
      selected.map(({ isWholeMonth }) => Number(isWholeMonth)),
      "int[]",
    )}) as span (period, first, last, is_month)`;

  const columns = listStoredColumns(query, family, sums);
  const selected = ["span.period", "place.currency", "stored.location_id"].join(", ");
  const storedColumns = columns.map((column) => `, stored.${column}`).join("");
  const monthSpans = spans.filter(({ isWholeMonth }) => isWholeMonth);
  const table = family === "totals" ? "metric_totals" : "metric_cells";
  const notMerged =
    monthSpans.length > 0
      ? `and not (span.is_month = 1 and exists (
          select from metric_months merged
          where merged.location_id = place.location_id and merged.month = span.first and merged.${isOfPlaces}))`
      : "";
  const fromTills = `
    select ${selected}, stored.day${storedColumns}
    from ${placeRows} cross join ${buildSpanRows(spans)}
    join ${table} stored on stored.location_id = place.location_id and stored.day between span.first and span.last
    where stored.${isOfPlaces} ${notMerged}`;
  const fromMonths =
    monthSpans.length > 0
      ? `union all
    select ${selected}, stored.month${storedColumns}
    from ${placeRows} cross join ${buildSpanRows(monthSpans)}
    join metric_months stored on stored.location_id = place.location_id and stored.month = span.first
    where stored.${isOfPlaces}`
      : "";

  const conditions = listFilterConditions(query, bind);
  const sumExpressions = sums.map((sum) => `sum("${family === "totals" ? "source" : family}".${toSumColumn(sum)})`);
  const keys = ["source.period", "source.currency", ...keyColumns.flat()];
  const text = `
    select ${[...keys, ...sumExpressions].join(", ")}
    from (${fromTills} ${fromMonths}) as source ${buildUnnest(query, family, sums)}
    ${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
    group by ${keys.map((_, index) => index + 1).join(", ")}
    having ${sumExpressions.map((sum) => `${sum} <> 0`).join(" or ")}
    limit ${maxRows}`;
  return { text, parameters, keyWidths };
}

function filterPlaces(places: readonly MetricPlace[], accepted: string[] | undefined): readonly MetricPlace[] {
  if (!accepted) return places;
  const ids = new Set(accepted.map((id) => id.toLowerCase()));
  return places.filter(({ locationId }) => ids.has(locationId));
}

/** Returns the family of a stored dimension, which is also the alias of its cells. */
function getStoredFamily(name: MetricDimension): Exclude<MetricFamily, "totals"> {
  return getMetricFamily({ dimensions: [name], filters: {} }) as Exclude<MetricFamily, "totals">;
}

/** The columns of a family that a query needs, without the name of the family. */
function listFamilyColumns(query: MetricSelection, family: MetricFamily): string[] {
  return listUsedDimensions(query).flatMap((name) =>
    isStoredDimension(name) && getStoredFamily(name) === family ? metricColumns[name].map(({ column }) => column) : [],
  );
}

/** Whether cells of payments, discounts or cancellations are combined with the cells of orders to which they belong. */
function isJoinedWithOrders(query: MetricSelection, family: MetricFamily): boolean {
  return family !== "order" && family !== "totals" && listFamilyColumns(query, "order").length > 0;
}

function listStoredColumns(query: MetricSelection, family: MetricFamily, sums: MetricSum[]): string[] {
  const sumColumns = sums.map(toSumColumn);
  if (family === "totals") return sumColumns;
  const own = [...listFamilyColumns(query, family), ...sumColumns].map((column) => `${family}_${column}`);
  if (!isJoinedWithOrders(query, family)) return own;
  return [`${family}_order_cell`, ...own, ...listFamilyColumns(query, "order").map((column) => `order_${column}`)];
}

/** Returns the joins that return a row for each cell. */
function buildUnnest(query: MetricSelection, family: MetricFamily, sums: MetricSum[]): string {
  if (family === "totals") return "";
  const unnest = (of: MetricFamily, columns: string[], suffix = "") =>
    `unnest(${columns.map((column) => `source.${of}_${column}`).join(", ")})${suffix}`;
  const own = [...listFamilyColumns(query, family), ...sums.map(toSumColumn)];
  if (!isJoinedWithOrders(query, family))
    return `cross join lateral ${unnest(family, own)} as "${family}" (${own.join(", ")})`;
  const orderColumns = listFamilyColumns(query, "order");
  return `cross join lateral ${unnest(family, ["order_cell", ...own])} as "${family}" (${["order_cell", ...own].join(", ")})
    join lateral ${unnest("order", orderColumns, " with ordinality")} as "order" (${[...orderColumns, "number"].join(", ")})
      on "order".number = "${family}".order_cell`;
}

function listFilterConditions(
  { filters }: MetricSelection,
  bind: (value: string[] | number[], type: string) => string,
): string[] {
  return Object.entries(filters).flatMap(([key, values]) => {
    const name = key as MetricDimension;
    if (!isStoredDimension(name)) return [];
    const alternatives = metricColumns[name].flatMap(({ column, type, isFiltered }) => {
      if (!isFiltered) return [];
      const reference = `"${getStoredFamily(name)}".${column}`;
      return type === "integer"
        ? [`${reference} = any(${bind(values.map(Number), "int[]")})`]
        : [`coalesce(${reference}, '') = any(${bind(values, "text[]")})`];
    });
    return [`(${alternatives.join(" or ")})`];
  });
}

/** Returns the number of reports in the periods whose figures by dimension are not stored. */
export async function countReportsWithoutMetrics(
  tx: SqlTransaction,
  locationIds: readonly string[],
  periods: readonly DayRange[],
): Promise<number> {
  const [onlyLocation] = locationIds;
  const isOfLocations =
    onlyLocation !== undefined && locationIds.length === 1
      ? tx`location_id = ${onlyLocation}`
      : tx`location_id = any(${locationIds}::uuid[])`;
  const ranges = periods.map(
    ({ first, last }) => tx`or day between ${formatDay(first)}::text::date and ${formatDay(last)}::text::date`,
  );
  const [row] = await tx<[{ count: number }]>`
    select count(*) as count from reports
    where ${isOfLocations} and metrics_etag is distinct from etag and (false ${ranges})`;
  return row.count;
}
