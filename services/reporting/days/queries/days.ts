import { maxTillsPerDay } from "@pragma/contracts/day";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { LastShiftByDevice } from "../check-devices.ts";
import type { DayContext, TillOfDay } from "../compute-day.ts";
import { decompressDayText } from "../day-texts.ts";

/** The reports from which a day is computed. If there are more than `maxTillsPerDay`, the day has no totals. */
const maxReports = maxTillsPerDay + 1;

export interface DayKey {
  locationId: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
}

/** For how many days without a shift the report numbers of a device are followed. */
const maxDaysBetweenShifts = 31;

/** Returns what a day is computed from, and the stored days whose report numbers it follows, or that follow it. */
export async function findDayParts(sql: SqlClient | SqlTransaction, { locationId, day }: DayKey) {
  interface Row extends Pick<DayContext, "openShifts" | "ordersWithoutTill"> {
    /** `finalized` is the data of the event `report.finalized`, as JSON; null if there are figures. */
    reports: (Omit<TillOfDay, "report" | "figures"> & Record<"tillFiguresBase64" | "finalized", string | null>)[];
    reportCount: number | null;
    days: StoredDay[];
  }
  const isOfDay = sql`location_id = ${locationId} and day = ${day}::text::date`;
  // One statement, because it runs in the transaction that stores a report, while other tills of the location wait.
  const [row] = await sql<[Row]>`
    with found as (
      select till_id, id, started_at, finalized, till_figures from reports
      where ${isOfDay} order by started_at, id limit ${maxReports}
    )
    select
      coalesce((
        select json_agg(json_build_object(
          'tillId', found.till_id, 'reportId', id, 'tillRevision', revision,
          'tillFiguresBase64', encode(till_figures, 'base64'),
          'finalized', case when till_figures is null then finalized end
        ) order by started_at, id)
        from found join tills on tills.location_id = ${locationId} and tills.till_id = found.till_id
      ), '[]') as reports,
      (select count from day_counts where ${isOfDay} and kind = 'report') as report_count,
      coalesce((
        select json_agg(json_build_object(
          'day', day, 'state', state, 'dayRevision', day_revision, 'updatedAt', updated_at, 'etag', etag,
          'lastShifts', last_shifts
        ) order by day)
        from days where location_id = ${locationId}
          and day between ${day}::text::date - ${maxDaysBetweenShifts}::int
            and ${day}::text::date + ${maxDaysBetweenShifts}::int
      ), '[]') as days,
      coalesce((
        select json_agg(json_build_object('tillId', till_id, 'startedAt', started_at) order by started_at, till_id)
        from (
          select till_id, started_at from shifts where ${isOfDay} and is_open
          order by started_at, till_id limit ${maxTillsPerDay}
        ) as open_shifts
      ), '[]') as open_shifts,
      coalesce((
        select json_agg(json_build_object('tillId', till_id, 'orderId', order_id, 'total', total, 'isCanceled', is_canceled)
          order by till_id, order_id)
        from orders_without_till where ${isOfDay} and found_in_till_id is null and not is_live
      ), '[]') as orders_without_till`;
  const tills = row.reports.map(({ tillFiguresBase64: base64, finalized, ...till }): TillOfDay => {
    const figures = base64 === null ? null : JSON.parse(decompressDayText(Buffer.from(base64, "base64")));
    return { ...till, report: figures ?? JSON.parse(finalized ?? "{}"), figures };
  });
  const days = row.days.map((stored) => ({ ...stored, updatedAt: new Date(stored.updatedAt).toISOString() }));
  const earlierDays = days.filter((stored) => stored.day < day).map(({ lastShifts }) => lastShifts);
  return {
    tills,
    tillCount: tills.length < maxReports ? tills.length : (row.reportCount ?? tills.length),
    openShifts: row.openShifts.map((shift) => ({ ...shift, startedAt: new Date(shift.startedAt).toISOString() })),
    ordersWithoutTill: row.ordersWithoutTill,
    storedDay: days.find((stored) => stored.day === day),
    earlierDays: earlierDays.reverse(),
    laterDays: days.filter((stored) => stored.day > day),
  };
}

export interface StoredDay {
  day: string;
  state: string;
  dayRevision: number;
  updatedAt: string;
  etag: string;
  lastShifts: LastShiftByDevice;
}

interface DayRow extends DayKey, StoredDay {
  hasReports: boolean;
  body: Uint8Array;
}

export async function upsertDay(tx: SqlTransaction, { lastShifts, ...row }: DayRow): Promise<void> {
  await tx`
    insert into days ${tx({ ...row, lastShifts: tx.json(lastShifts) } as never)}
    on conflict (location_id, day) do update set
      state = excluded.state, day_revision = excluded.day_revision, updated_at = excluded.updated_at, etag = excluded.etag,
      has_reports = excluded.has_reports, last_shifts = excluded.last_shifts, body = excluded.body`;
}

type ListedDayRow = Pick<DayRow, "day" | "etag" | "body">;
const toListedDay = (row: ListedDayRow) => ({ ...row, body: decompressDayText(row.body) });

/** Returns one day; undefined if it has neither reports nor open shifts nor orders without a till. */
export async function findDay(sql: SqlClient, { locationId, day }: DayKey) {
  const [row] = await sql<ListedDayRow[]>`
    select day::text as day, etag, body from days
    where location_id = ${locationId} and day = ${day}::text::date`;
  return row && toListedDay(row);
}

interface DayListRange {
  since: string | null;
  until: string | null;
  before: string | null;
  offset: number;
  limit: number;
}

/** Returns the days of a location, latest first, and the total number of days in the list. */
export async function listDays(
  sql: SqlClient,
  locationId: string,
  { since, until, before, offset, limit }: DayListRange,
) {
  const isInRange = sql`location_id = ${locationId}
    and day between ${since ?? "0001-01-01"}::text::date and ${until ?? "9999-12-31"}::text::date`;
  const [rows, [counted]] = await Promise.all([
    sql<ListedDayRow[]>`
      select day::text as day, etag, body from days
      where ${isInRange} and day < ${before ?? "infinity"}::text::date
      order by days.day desc offset ${offset} limit ${limit}`,
    sql<[{ total: number }]>`select count(*) as total from days where ${isInRange}`,
  ]);
  return { days: rows.map(toListedDay), total: counted.total };
}

/** Deletes what is stored of days before a day (YYYY-MM-DD), whose reports must have been deleted before. */
export async function deleteDaysBefore({ sql }: Database, beforeDay: string): Promise<void> {
  for (const table of ["orders_without_till", "shifts", "days"]) {
    for (const partition of await listPartitionNames(sql, table)) {
      const withoutReports = table === "days" ? sql`and not has_reports` : sql``;
      await deleteRowsInBatches(sql, partition, sql`day < ${beforeDay}::text::date ${withoutReports}`);
    }
  }
}
