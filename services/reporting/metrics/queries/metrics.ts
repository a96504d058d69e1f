import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import type { TillKey } from "../../documents/queries/tills.ts";
import type { CellColumns } from "../cell-family.ts";
import type { TillMetrics } from "../till-metrics.ts";

interface TillMetricsChange extends TillKey {
  /** The business day of the report that the till had before; undefined if it had none. */
  previousDay: string | undefined;
  day: string;
  /** Null if the metrics of the till cannot be stored. */
  metrics: TillMetrics | null;
}

/**
 * Replaces the metrics of a till, and deletes the merged metrics of its months. The caller must lock the location first,
 * and store in the report whether the till has metrics.
 */
export async function replaceTillMetrics(
  tx: SqlTransaction,
  { locationId, tillId, previousDay, day, metrics }: TillMetricsChange,
): Promise<void> {
  const key = JSON.stringify({ location_id: locationId, day, till_id: tillId });
  const deleted =
    previousDay === undefined ? undefined : deleteTillMetrics(tx, { locationId, tillId, day: previousDay });
  if (!metrics) return deleted;
  // PostgreSQL runs the statements of a transaction one after the other, so that the rows are deleted first.
  await Promise.all([
    deleted,
    tx`
      insert into metric_totals
      select * from jsonb_populate_record(null::metric_totals, ${joinJsonObjectTexts(key, metrics.totals)}::text::jsonb)`,
    tx`
      insert into metric_cells
      select * from jsonb_populate_record(null::metric_cells, ${joinJsonObjectTexts(key, metrics.cells)}::text::jsonb)`,
    deleteMetricMonth(tx, { locationId, day }),
  ]);
}

/** Deletes the metrics of a till whose report is of a day, and the merged metrics of its month. */
export async function deleteTillMetrics(
  tx: SqlTransaction,
  { locationId, tillId, day }: TillKey & { day: string },
): Promise<void> {
  const isOfTill = tx`location_id = ${locationId} and day = ${day}::text::date and till_id = ${tillId}`;
  await Promise.all([
    tx`delete from metric_totals where ${isOfTill}`,
    tx`delete from metric_cells where ${isOfTill}`,
    deleteMetricMonth(tx, { locationId, day }),
  ]);
}

function deleteMetricMonth(tx: SqlTransaction, { locationId, day }: { locationId: string; day: string }) {
  return tx`
    delete from metric_months
    where location_id = ${locationId} and month = date_trunc('month', ${day}::text::date)::date`;
}

const isNotRemoved = (sql: SqlClient) => sql`location_id not in (select location_id from removed_locations)`;

export interface MetricMonth {
  locationId: string;
  month: string;
}

/** Returns the months before a month, in a partition, that have tills with metrics, and are not merged. */
export async function listMonthsToMerge(
  sql: SqlClient,
  { totals, months }: { totals: string; months: string },
  { beforeMonth }: { beforeMonth: string },
): Promise<MetricMonth[]> {
  return sql<MetricMonth[]>`
    select location_id, month::text as month from (
      select distinct location_id, date_trunc('month', day)::date as month from ${sql(totals)}
      where day < ${beforeMonth}::text::date and ${isNotRemoved(sql)}
    ) as till
    where not exists (
      select from ${sql(months)} as merged where merged.location_id = till.location_id and merged.month = till.month
    )`;
}

/**
 * Returns a value that changes with each report of a month; null if a report changed in the last 24 hours, or if there is
 * none.
 */
export async function findVersionOfUnchangedMonth(
  sql: SqlClient | SqlTransaction,
  { locationId, month }: MetricMonth,
): Promise<string | null> {
  const [row] = await sql<[{ version: string | null }]>`
    select case
      when max(updated_at) < now() - interval '24 hours' then md5(string_agg(till_id || etag, ' ' order by till_id)) end as version
    from reports
    where location_id = ${locationId} and day >= ${month}::text::date
      and day < ${month}::text::date + interval '1 month'`;
  return row.version;
}

/** Yields the cells of the tills of a month, a few tills at a time, sorted by day. */
export async function* readMetricCellsOfMonth(
  sql: SqlClient,
  { locationId, month }: MetricMonth,
): AsyncGenerator<CellColumns> {
  const batches = sql<{ cells: string }[]>`
    select to_jsonb(metric_cells)::text as cells from metric_cells
    where location_id = ${locationId} and day >= ${month}::text::date
      and day < ${month}::text::date + interval '1 month'
    order by day, till_id`.cursor(4);
  for await (const rows of batches) for (const { cells } of rows) yield JSON.parse(cells);
}
