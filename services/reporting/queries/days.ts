import { createHash } from "node:crypto";
import { type Day, maxTillsPerDay } from "@pragma/contracts/day";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import {
  type Database,
  type SqlClient,
  type SqlFragment,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { LastShiftByDevice } from "../days/check-devices.ts";
import { decompressDayText } from "../days/day-texts.ts";
import type { TillFigures } from "../days/till-figures.ts";
import type { OrderWithoutTill } from "./shifts.ts";

/** The reports that decide whether a stored day is current. If there are more, the day has no totals. */
const maxHashedReports = maxTillsPerDay + 1;

/** A report of a day as it is stored. */
export interface ReportOfDayRow {
  tillId: string;
  id: string;
  etag: string;
  tillRevision: number;
  /** Null if the figures are not those of the stored report, because an earlier version stored it. */
  tillFigures: TillFigures | null;
  /** The following texts are null if `tillFigures` is not. The first two are also null if the till is packed. */
  v2: string | null;
  accountingDataJson: string | null;
  finalized: string | null;
}

export interface DayKey {
  locationId: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
}

/** Returns the hash of the entity tags of a day's first reports; empty without reports. Equals `hashReports`. */
const reportsHash = (
  sql: SqlClient | SqlTransaction,
  { locationId, day }: { locationId: string; day: SqlFragment },
) => sql`
  select coalesce(md5(string_agg(etag, ' ')), '') as hash from (
    select etag from reports where location_id = ${locationId} and reports.day = ${day}
    order by started_at, id limit ${maxHashedReports}
  ) as reports_of_day`;

/** Returns the hash of the entity tags of a day's reports, of which at most `maxHashedReports` are given. */
export function hashReports(reports: readonly Pick<ReportOfDayRow, "etag">[]): string {
  if (reports.length === 0) return "";
  return createHash("md5")
    .update(reports.map(({ etag }) => etag).join(" "))
    .digest("hex");
}

/** What a day is computed from. */
export interface StoredDayParts {
  /** The first `maxHashedReports` reports, earliest first. */
  reports: ReportOfDayRow[];
  reportCount: number;
  /** The stored days around the day, and the day itself, earliest first. */
  days: StoredDay[];
  openShifts: Day["openShifts"];
  ordersWithoutTill: OrderWithoutTill[];
}

/** Returns what a day is computed from, with the stored days from `distance` days before to `distance` days after it. */
export async function findDayParts(
  sql: SqlClient | SqlTransaction,
  { locationId, day }: DayKey,
  distance: number,
): Promise<StoredDayParts> {
  type Row = Omit<StoredDayParts, "reports" | "days" | "openShifts" | "reportCount"> & {
    reports: (Omit<ReportOfDayRow, "tillFigures"> & { tillFiguresBase64: string | null })[];
    reportCount: number | null;
    days: (Omit<StoredDay, "updatedAt"> & { updatedAt: string })[];
    openShifts: Day["openShifts"];
  };
  const isOfDay = sql`location_id = ${locationId} and day = ${day}::text::date`;
  // One statement, because it runs in the transaction that stores a report, while other tills of the location wait.
  const [row] = await sql<[Row]>`
    with found as (
      select till_id, id, etag, started_at, finalized, v2, accounting_facts,
        case when substr(till_figures, 1, 16) = decode(md5(etag), 'hex') then substr(till_figures, 17) end as till_figures
      from reports where ${isOfDay} order by started_at, id limit ${maxHashedReports}
    )
    select
      coalesce((
        select json_agg(json_build_object(
          'tillId', found.till_id, 'id', id, 'etag', etag, 'tillRevision', revision,
          'tillFiguresBase64', encode(till_figures, 'base64'), 'v2', case when till_figures is null then v2 end,
          'accountingDataJson', case when till_figures is null then accounting_facts end,
          'finalized', case when till_figures is null and v2 is null then finalized end
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
          and day between ${day}::text::date - ${distance}::int and ${day}::text::date + ${distance}::int
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
  const reports = row.reports.map(({ tillFiguresBase64, ...report }): ReportOfDayRow => {
    if (tillFiguresBase64 === null) return { ...report, tillFigures: null };
    return { ...report, tillFigures: JSON.parse(decompressDayText(Buffer.from(tillFiguresBase64, "base64"))) };
  });
  return {
    ...row,
    reports,
    reportCount: reports.length < maxHashedReports ? reports.length : (row.reportCount ?? reports.length),
    days: row.days.map((stored) => ({ ...stored, updatedAt: new Date(stored.updatedAt) })),
    openShifts: row.openShifts.map(({ tillId, startedAt }) => ({
      tillId,
      startedAt: new Date(startedAt).toISOString(),
    })),
  };
}

/** Stores figures that were derived from stored reports. */
export async function storeTillFigures(
  tx: SqlTransaction,
  locationId: string,
  figures: readonly { id: string; storedTillFigures: Uint8Array }[],
): Promise<void> {
  const texts = figures.map(({ id, storedTillFigures }) => ({
    id,
    tillFiguresBase64: Buffer.from(storedTillFigures).toString("base64"),
  }));
  const parameter = toRecordsetParameter(tx, texts);
  await tx`
    update reports set till_figures = decode(derived.till_figures_base64, 'base64')
    from jsonb_to_recordset(${parameter}) as derived (id uuid, till_figures_base64 text)
    where reports.location_id = ${locationId} and reports.id = derived.id`;
}

export interface StoredDay {
  day: string;
  state: string;
  dayRevision: number;
  updatedAt: Date;
  etag: string;
  lastShifts: LastShiftByDevice;
}

export interface DayRow extends DayKey {
  state: string;
  dayRevision: number;
  updatedAt: string;
  etag: string;
  hasReports: boolean;
  reportsHash: string;
  lastShifts: LastShiftByDevice;
  /** As `compressDayText` returns it. */
  body: Uint8Array;
}

export async function upsertDay(tx: SqlTransaction, row: DayRow): Promise<void> {
  const { locationId, day, state, dayRevision, updatedAt, etag, hasReports, reportsHash: hash, lastShifts, body } = row;
  await tx`
    insert into days (location_id, day, state, day_revision, updated_at, etag, has_reports, reports_hash, last_shifts,
      body)
    values (${locationId}, ${day}::text::date, ${state}, ${dayRevision}, ${updatedAt}::timestamptz, ${etag}, ${hasReports},
      ${hash}, ${JSON.stringify(lastShifts)}::text::jsonb, ${body})
    on conflict (location_id, day) do update set
      state = excluded.state, day_revision = excluded.day_revision, updated_at = excluded.updated_at, etag = excluded.etag,
      has_reports = excluded.has_reports, reports_hash = excluded.reports_hash,
      last_shifts = excluded.last_shifts, body = excluded.body`;
}

/** Records that a stored day is the same with the current reports. */
export async function updateReportsHash(tx: SqlTransaction, { locationId, day }: DayKey, hash: string): Promise<void> {
  await tx`
    update days set reports_hash = ${hash}, has_reports = ${hash !== ""}
    where location_id = ${locationId} and day = ${day}::text::date`;
}

export async function deleteDay(tx: SqlTransaction, { locationId, day }: DayKey): Promise<void> {
  await tx`delete from days where location_id = ${locationId} and day = ${day}::text::date`;
}

/** A day in a list. `body` is null if the stored day is out of date, or not stored. */
export interface ListedDay {
  day: string;
  etag: string | null;
  body: string | null;
}

/** Returns one day; undefined if it has neither reports nor open shifts nor orders without a till. */
export async function findDay(
  sql: SqlClient | SqlTransaction,
  { locationId, day }: DayKey,
): Promise<ListedDay | undefined> {
  const [row] = await sql<{ body: Uint8Array | null; etag: string | null; hash: string; storedHash: string | null }[]>`
    select body, etag, hash, reports_hash as stored_hash
    from (${reportsHash(sql, { locationId, day: sql`${day}::text::date` })}) as current
      left join days on days.location_id = ${locationId} and days.day = ${day}::text::date`;
  if (!row || (row.hash === "" && row.storedHash === null)) return undefined;
  const isCurrent = row.hash === row.storedHash;
  return { day, etag: isCurrent ? row.etag : null, body: isCurrent && row.body ? decompressDayText(row.body) : null };
}

export interface DayListRange {
  since: string | null;
  until: string | null;
  /** Lists only days before this one. */
  before: string | null;
  offset: number;
  limit: number;
}

/** Returns the days of a location, latest first, and their total number. */
export async function listDays(
  sql: SqlClient,
  locationId: string,
  { since, until, before, offset, limit }: DayListRange,
): Promise<{ days: ListedDay[]; total: number }> {
  const isInRange = sql`location_id = ${locationId}
    and day between ${since ?? "0001-01-01"}::text::date and ${until ?? "9999-12-31"}::text::date`;
  const listed = sql`
    select day from day_counts where ${isInRange} and kind = 'report' and count > 0
    union
    select day from days where ${isInRange} and not has_reports`;
  const [days, [counted]] = await Promise.all([
    sql<(Omit<ListedDay, "body"> & { body: Uint8Array | null })[]>`
      with page as (
        select day from (${listed}) as listed where day < ${before ?? "infinity"}::text::date
        order by day desc offset ${offset} limit ${limit}
      )
      select page.day::text as day, case when is_current then etag end as etag, case when is_current then body end as body
      from page left join lateral (
        select etag, body, reports_hash = (
          select hash from (${reportsHash(sql, { locationId, day: sql`page.day` })}) as reports
        ) as is_current
        from days where location_id = ${locationId} and days.day = page.day
      ) as stored on true
      order by page.day desc`,
    sql<[{ total: number }]>`select count(*) as total from (${listed}) as listed`,
  ]);
  return {
    days: days.map((row) => ({ ...row, body: row.body && decompressDayText(row.body) })),
    total: counted.total,
  };
}

/**
 * Deletes what is stored of days before a day (YYYY-MM-DD) without their reports, which must have been deleted before.
 * Processes one partition at a time.
 */
export async function deleteDaysBefore({ sql }: Database, beforeDay: string): Promise<void> {
  for (const table of ["orders_without_till", "shifts", "days"]) {
    for (const partition of await listPartitionNames(sql, table)) {
      const withoutReports = table === "days" ? sql`and not has_reports` : sql``;
      await deleteRowsInBatches(sql, partition, sql`day < ${beforeDay}::text::date ${withoutReports}`);
    }
  }
}
