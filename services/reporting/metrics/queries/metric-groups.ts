import type { MetricDimension } from "@pragma/contracts/metric-definitions";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { mapInTurns } from "../map-in-turns.ts";
import { type DayRange, type DaySpan, formatDay, splitRange } from "../metric-periods.ts";
import {
  canReadMonths,
  getFamilyOfDimension,
  getMetricFamily,
  isStoredDimension,
  listMetricSums,
  listUsedDimensions,
  type MetricCellFamily,
  type MetricFamily,
  type MetricSelection,
  type MetricSum,
  metricColumns,
  parentFamilies,
  toSumColumn,
} from "../metric-sources.ts";

export interface MetricGroupsQuery extends MetricSelection {
  /** Each with the index of its currency in the answer. */
  locations: readonly { locationId: string; currencyIndex: number }[];
  periods: readonly DayRange[];
  maxGroupsPerPeriod: number;
}

/** The sums of the rows with the same values of the dimensions. */
export interface MetricGroup {
  periodIndex: number;
  currencyIndex: number;
  /**
   * The values of each dimension: numbers of days for day, of Mondays for week, and of first days for month, a number
   * from 0 for weekday, the id of a location, and otherwise the fields of the value.
   */
  keys: (number | string | boolean | null)[][];
  sums: Partial<Record<MetricSum, number>>;
}

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
 * @throws `AmountOutOfRangeError`, and the reason of `signal` if it is aborted.
 */
export async function listMetricGroups(
  tx: SqlTransaction,
  query: MetricGroupsQuery,
  signal: AbortSignal,
): Promise<MetricGroup[]> {
  const { dimensions, measures, periods, maxGroupsPerPeriod } = query;
  const sums = listMetricSums(measures);
  const { text, parameters, keyWidths } = buildStatement(query, sums, maxGroupsPerPeriod * periods.length + 1);
  if (parameters === null) return [];
  // Unnamed, because statements differ in their measures and dimensions, and each connection would keep all of them.
  const rows = await tx.unsafe<Record<string, unknown>[]>(text, parameters, { prepare: false }).values();
  const toGroup = (row: unknown[]): MetricGroup => {
    let next = 0;
    const take = () => row[next++] as number | string | boolean | null;
    const periodIndex = Number(take());
    const currencyIndex = Number(take());
    const keys = dimensions.map((_, index) => Array.from({ length: keyWidths[index] ?? 1 }, take));
    const values: MetricGroup["sums"] = {};
    for (const sum of sums) {
      const value = Number(take());
      if (!Number.isSafeInteger(value)) throw new AmountOutOfRangeError(`${sum} is not a safe integer`);
      values[sum] = value;
    }
    return { periodIndex, currencyIndex, keys, sums: values };
  };
  return mapInTurns(rows, toGroup, signal);
}

type Parameter = string | string[] | number[];
type BindParameter = (value: Parameter, type: string) => string;

/** Returns the statement, and the number of key columns of each dimension. `parameters` is null if nothing can match. */
function buildStatement(query: MetricGroupsQuery, sums: MetricSum[], maxRows: number) {
  const { dimensions, filters, periods } = query;
  const parameters: Parameter[] = [];
  const bind: BindParameter = (value, type) => `$${parameters.push(value)}::${type}`;
  const family = getMetricFamily(query);
  const spans = periods.flatMap((period, periodIndex) =>
    splitRange(period, filters, canReadMonths(query)).map((span) => ({ ...span, periodIndex })),
  );
  const acceptedIds = filters.location?.map((id) => id.toLowerCase());
  const locations = query.locations.filter(({ locationId }) => acceptedIds?.includes(locationId) ?? true);
  const keyColumns = dimensions.map((name) =>
    isStoredDimension(name)
      ? metricColumns[name].map(({ column }) => `"${getFamilyOfDimension(name, family)}".${column}`)
      : [keyExpressions[name] ?? ""],
  );
  const keyWidths = keyColumns.map(({ length }) => length);
  if (spans.length === 0 || locations.length === 0) return { text: "", parameters: null, keyWidths };

  const source = buildSource({ locations, spans, family, columns: listStoredColumns(query, family, sums) }, bind);
  const conditions = listFilterConditions(query, family, bind);
  const sumExpressions = sums.map((sum) => `sum("${family === "totals" ? "source" : family}".${toSumColumn(sum)})`);
  const keys = ["source.period_index", "source.currency_index", ...keyColumns.flat()];
  const text = `
    select ${[...keys, ...sumExpressions].join(", ")}
    from (${source}) as source ${buildUnnest(query, family, sums)}
    ${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
    group by ${keys.map((_, index) => index + 1).join(", ")}
    having ${sumExpressions.map((sum) => `${sum} <> 0`).join(" or ")}
    limit ${maxRows}`;
  return { text, parameters, keyWidths };
}

interface SourceOptions extends Pick<MetricGroupsQuery, "locations"> {
  spans: readonly (DaySpan & { periodIndex: number })[];
  family: MetricFamily;
  columns: string[];
}

/** Returns a query for the stored rows of locations and spans: merged months, and the tills of all other days. */
function buildSource({ locations, spans, family, columns }: SourceOptions, bind: BindParameter): string {
  const ids = bind(
    locations.map(({ locationId }) => locationId),
    "uuid[]",
  );
  const currencyIndexes = bind(
    locations.map(({ currencyIndex }) => currencyIndex),
    "int[]",
  );
  // With a constant, PostgreSQL plans only the partition of the location.
  const [{ locationId = "" } = {}] = locations;
  const ofLocation = `location_id = ${locations.length === 1 ? bind(locationId, "uuid") : "queried.location_id"}`;
  const buildRows = (selected: SourceOptions["spans"]) => {
    const bindColumn = (type: string, toValue: (span: (typeof selected)[number]) => string | number) =>
      bind(selected.map(toValue) as string[] | number[], type);
    const spanColumns = [
      bindColumn("int[]", ({ periodIndex }) => periodIndex),
      bindColumn("date[]", ({ first }) => formatDay(first)),
      bindColumn("date[]", ({ last }) => formatDay(last)),
      // postgres.js cannot send arrays of booleans.
      bindColumn("int[]", ({ isWholeMonth }) => Number(isWholeMonth)),
    ];
    return `unnest(${ids}, ${currencyIndexes}) as queried (location_id, currency_index)
      cross join unnest(${spanColumns.join(", ")}) as span (period_index, first, last, is_month)`;
  };
  const selected = ["span.period_index", "queried.currency_index", "stored.*"].join(", ");
  // `offset 0` lets PostgreSQL find the rows of each span by the index. It would otherwise read all rows of the locations,
  // which are wide, and then join them, because it does not know how few days a span has.
  const buildStored = (table: string, day: string, condition: string) => `
    cross join lateral (
      select ${["location_id", `${day} as day`, ...columns].join(", ")} from ${table}
      where ${ofLocation} and ${condition} offset 0
    ) as stored`;

  // Months that were merged before these cells existed are read from their tills.
  const hasCells = family === "service" ? " and service_product_cell is not null" : "";
  const monthSpans = spans.filter(({ isWholeMonth }) => isWholeMonth);
  const table = family === "totals" ? "metric_totals" : "metric_cells";
  const fromTills = `
    select ${selected} from ${buildRows(spans)} ${buildStored(table, "day", "day between span.first and span.last")}`;
  if (monthSpans.length === 0) return fromTills;
  return `${fromTills}
    where not (
      span.is_month = 1 and exists (select from metric_months where ${ofLocation} and month = span.first${hasCells})
    )
    union all
    select ${selected} from ${buildRows(monthSpans)} ${buildStored("metric_months", "month", `month = span.first${hasCells}`)}`;
}

/** The columns of the dimensions that a query uses and `of` stores, without the name of the family. */
function listDimensionColumns(query: MetricSelection, of: MetricCellFamily): string[] {
  const family = getMetricFamily(query);
  return listUsedDimensions(query).flatMap((name) =>
    isStoredDimension(name) && getFamilyOfDimension(name, family) === of
      ? metricColumns[name].map(({ column }) => column)
      : [],
  );
}

/** Returns the family with whose cells the cells of `family` are combined, and its columns; undefined if none. */
function findJoinedFamily(query: MetricSelection, family: MetricCellFamily) {
  const parent = parentFamilies[family];
  if (!parent) return undefined;
  const columns = listDimensionColumns(query, parent);
  return columns.length > 0 ? { parent, columns, cell: `${parent}_cell` } : undefined;
}

function listStoredColumns(query: MetricSelection, family: MetricFamily, sums: MetricSum[]): string[] {
  const sumColumns = sums.map(toSumColumn);
  if (family === "totals") return sumColumns;
  const own = [...listDimensionColumns(query, family), ...sumColumns].map((column) => `${family}_${column}`);
  const joined = findJoinedFamily(query, family);
  if (!joined) return own;
  const { parent, columns, cell } = joined;
  return [`${family}_${cell}`, ...own, ...columns.map((column) => `${parent}_${column}`)];
}

function buildUnnest(query: MetricSelection, family: MetricFamily, sums: MetricSum[]): string {
  if (family === "totals") return "";
  const unnest = (of: MetricFamily, columns: string[], suffix = "") =>
    `unnest(${columns.map((column) => `source.${of}_${column}`).join(", ")})${suffix}`;
  const own = [...listDimensionColumns(query, family), ...sums.map(toSumColumn)];
  const joined = findJoinedFamily(query, family);
  if (!joined) return `cross join lateral ${unnest(family, own)} as "${family}" (${own.join(", ")})`;
  const { parent, columns, cell } = joined;
  return `cross join lateral ${unnest(family, [cell, ...own])} as "${family}" (${[cell, ...own].join(", ")})
    join lateral ${unnest(parent, columns, " with ordinality")} as "${parent}" (${[...columns, "number"].join(", ")})
      on "${parent}".number = "${family}".${cell}`;
}

function listFilterConditions({ filters }: MetricSelection, family: MetricFamily, bind: BindParameter): string[] {
  return Object.entries(filters).flatMap(([key, values]) => {
    const name = key as MetricDimension;
    if (!isStoredDimension(name)) return [];
    const alternatives = metricColumns[name].flatMap(({ column, type }) => {
      if (type === "boolean") return [];
      const reference = `"${getFamilyOfDimension(name, family)}".${column}`;
      return type === "integer"
        ? [`${reference} = any(${bind(values.map(Number), "int[]")})`]
        : [`coalesce(${reference}, '') = any(${bind(values, "text[]")})`];
    });
    return [`(${alternatives.join(" or ")})`];
  });
}

/**
 * Returns the number of reports in the periods without the metrics that a query needs: because a sum is too large, or, for
 * products by hour or service type, because they were last computed before these metrics existed.
 */
export async function countMissingReportsInPeriods(
  tx: SqlTransaction,
  query: Omit<MetricSelection, "measures">,
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
  const isSelected = tx`${isOfLocations} and (false ${ranges})`;
  const counts = await Promise.all([
    tx<[{ count: number }]>`select count(*) as count from reports where ${isSelected} and not has_metrics`,
    getMetricFamily(query) === "service"
      ? tx<[{ count: number }]>`
          select count(*) as count from metric_cells where ${isSelected} and service_product_cell is null`
      : [{ count: 0 }],
  ]);
  return counts.reduce((sum, [{ count }]) => sum + count, 0);
}
