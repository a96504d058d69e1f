import { ApiError } from "@pragma/contracts/errors";
import type { Metrics } from "@pragma/contracts/metrics";
import { type MetricsQuery, metricLimits } from "@pragma/contracts/metrics-query";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import postgres from "postgres";
import type { ReportingContext } from "../context.ts";
import { buildMetrics, type MetricFigures } from "./build-metrics.ts";
import { compareScalars } from "./dimension-keys.ts";
import { computeComparedRange, toDayNumber } from "./metric-periods.ts";
import { hasUnattributedPart, listUnattributedMeasures } from "./metric-sources.ts";
import { countMissingReportsInPeriods, listMetricGroups } from "./queries/metric-groups.ts";

/** PostgreSQL's code for a statement that was canceled, for example because it exceeded its timeout. */
const queryCanceledCode = "57014";

/**
 * Returns the response to a query about locations that the caller may read.
 *
 * @throws `ApiError` query_too_slow, too_many_rows, amounts_too_large, and the errors of the lookup of currencies;
 * overloaded if `signal` is aborted.
 */
export async function computeMetrics(
  { db, config, locationCurrencies }: Pick<ReportingContext, "db" | "config" | "locationCurrencies">,
  query: MetricsQuery,
  locationIds: readonly string[],
  { context, signal }: { context: ObservabilityContext; signal: AbortSignal },
): Promise<Metrics> {
  const currencyCodes = await locationCurrencies(locationIds, context);
  const currencies = [...new Set(currencyCodes)].sort(compareScalars);
  const locations = locationIds.map((locationId, index) => ({
    locationId,
    currencyIndex: currencies.indexOf(currencyCodes[index] ?? null),
  }));
  const range = { first: toDayNumber(query.since), last: toDayNumber(query.until) };
  const periods: MetricFigures["periods"] = query.compare
    ? [range, computeComparedRange(range, query.compare)]
    : [range];
  const selection = {
    ...{ measures: query.measures, dimensions: query.dimensions, filters: query.filters, locations },
    maxGroupsPerPeriod: metricLimits.rowsBeforeLimit,
  };
  const read = (sql: SqlClient) => {
    const endMs = performance.now() + config.METRICS_QUERY_TIMEOUT_SECONDS * 1_000;
    return sql.begin("isolation level repeatable read read only", async (tx) => {
      await limitNextStatement(tx, endMs, signal);
      const groups = await listMetricGroups(tx, { ...selection, periods }, signal);
      let orderGroups: MetricFigures["orderGroups"];
      if (hasUnattributedPart(query)) {
        await limitNextStatement(tx, endMs, signal);
        // The sums of orders, of which a query by products explains a part. Its filters are not products.
        const measures = listUnattributedMeasures(query);
        const orderQuery = { ...selection, measures, dimensions: [], periods: [range] };
        orderGroups = await listMetricGroups(tx, orderQuery, signal);
      }
      await limitNextStatement(tx, endMs, signal);
      return {
        groups,
        orderGroups,
        missingReportCount: await countMissingReportsInPeriods(tx, query, locationIds, periods),
      };
    });
  };
  // Errors of the query must be `ApiError`s here, because `read` takes others for a failure of the replica.
  const [onlyLocation = null] = locationIds.length === 1 ? locationIds : [];
  const figures = await db.read(onlyLocation, ({ sql }) => convertQueryErrors(() => read(sql), signal));
  for (const index of periods.keys()) {
    const groups = figures.groups.filter(({ periodIndex }) => periodIndex === index);
    if (groups.length > metricLimits.rowsBeforeLimit)
      throw new ApiError("too_many_rows", {
        detail: `The query, or its earlier period, has more than ${metricLimits.rowsBeforeLimit.toLocaleString("en-US")} rows before \`limit\` applies. Add filters, use fewer dimensions, or shorten the range from since to until.`,
        limit: { name: "metric_rows", maximum: metricLimits.rowsBeforeLimit, unit: "rows" },
      });
  }
  return convertQueryErrors(() => buildMetrics(query, { periods, currencies, ...figures }, signal), signal);
}

/** Limits the next statement to the time that is left. After `signal` is aborted, no further statement begins. */
async function limitNextStatement(tx: SqlTransaction, endMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const timeoutMs = Math.max(1, Math.round(endMs - performance.now()));
  // Compiling a query takes longer than the query.
  await tx`select set_config('statement_timeout', ${String(timeoutMs)}, true), set_config('jit', 'off', true)`;
}

/** Runs the work of a query. Replaces the errors that its sender can correct by `ApiError`s. */
async function convertQueryErrors<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // No client receives this error.
    if (signal.aborted) throw new ApiError("overloaded", { detail: "The client disconnected.", cause: error });
    if (error instanceof AmountOutOfRangeError)
      throw new ApiError("amounts_too_large", {
        detail:
          "A sum exceeds 9,007,199,254,740,991 minor units, so it cannot be computed exactly. Shorten the range, or add filters.",
        cause: error,
      });
    if (error instanceof postgres.PostgresError && error.code === queryCanceledCode)
      throw new ApiError("query_too_slow", {
        detail:
          "The query took too long. Shorten the range from since to until, use fewer dimensions or locations, or use `month` instead of `day` or `week`: whole months are the fastest.",
        cause: error,
      });
    throw error;
  }
}
