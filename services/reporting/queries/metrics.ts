import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import type { TillMetrics } from "../metrics/till-metrics.ts";
import type { TillKey } from "./tills.ts";

interface TillMetricsChange extends TillKey {
  /** The business day of the report that the till had before; undefined if it had none. */
  previousDay: string | undefined;
  day: string;
  /** Null if the figures of the till cannot be stored. */
  metrics: TillMetrics | null;
}

/**
 * Replaces the figures of a till by dimension. Deletes the merged figures of its months, which are merged again later.
 * The caller must lock the location first, and store the entity tag of the report as `metrics_etag`.
 */
export async function replaceTillMetrics(
  tx: SqlTransaction,
  { locationId, tillId, previousDay, day, metrics }: TillMetricsChange,
): Promise<void> {
  const key = JSON.stringify({ location_id: locationId, day, till_id: tillId });
  const deleted =
    previousDay !== undefined &&
    tx`
      with totals as (
        delete from metric_totals
        where location_id = ${locationId} and day = ${previousDay}::text::date and till_id = ${tillId}
      ), cells as (
        delete from metric_cells
        where location_id = ${locationId} and day = ${previousDay}::text::date and till_id = ${tillId}
      )
      delete from metric_months
      where location_id = ${locationId} and month = date_trunc('month', ${previousDay}::text::date)::date`;
  const inserted =
    metrics &&
    tx`
      with totals as (
        insert into metric_totals
        select * from jsonb_populate_record(null::metric_totals, ${joinJsonObjectTexts(key, metrics.totals)}::text::jsonb)
      ), cells as (
        insert into metric_cells
        select * from jsonb_populate_record(null::metric_cells, ${joinJsonObjectTexts(key, metrics.cells)}::text::jsonb)
      )
      delete from metric_months
      where location_id = ${locationId} and month = date_trunc('month', ${day}::text::date)::date`;
  await Promise.all([deleted, inserted]);
}
