import { maxTillsPerDay } from "@pragma/contracts/day";
import {
  type SqlClient,
  type SqlFragment,
  type SqlTransaction,
  toRecordsetParameter,
} from "@pragma/runtime/database/postgres";
import type { DeviceDays } from "../days/check-devices.ts";

/** A report of a day as it is stored. */
export interface ReportOfDayRow {
  tillId: string;
  id: string;
  etag: string;
  revision: number;
  /** Null if the facts are not those of the stored report, because an earlier version stored it. */
  dayFacts: string | null;
  /** The following texts are null if `dayFacts` is not. The first two are also null if the till is packed. */
  v2: string | null;
  accountingFacts: string | null;
  finalized: string | null;
}

export interface DayKey {
  locationId: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
}

/** Returns how many reports a day has, counted up to `limit`, and the hash of their entity tags; null without reports. */
const reportsHash = (
  sql: SqlClient | SqlTransaction,
  { locationId, day, limit }: { locationId: string; day: SqlFragment; limit: number },
) => sql`
  select count(*) as count, md5(string_agg(etag, ' ')) as hash from (
    select etag from reports where location_id = ${locationId} and reports.day = ${day}
    order by started_at, id limit ${limit}
  ) as reports_of_day`;

/** Returns the reports of a day, earliest first. */
export async function listReportsOfDay(
  tx: SqlTransaction,
  { locationId, day }: DayKey,
  limit: number,
): Promise<ReportOfDayRow[]> {
  return tx<ReportOfDayRow[]>`
    with found as (
      select till_id, id, etag, started_at, finalized, v2, accounting_facts,
        case when starts_with(day_facts, '{"etag":"' || etag || '"') then day_facts end as day_facts
      from reports where location_id = ${locationId} and day = ${day}::text::date
      order by started_at, id limit ${limit}
    )
    select found.till_id, id, etag, revision, day_facts,
      case when day_facts is null then v2 end as v2,
      case when day_facts is null then accounting_facts end as accounting_facts,
      case when day_facts is null and v2 is null then finalized end as finalized
    from found join tills on tills.location_id = ${locationId} and tills.till_id = found.till_id
    order by started_at, id`;
}

/** Stores figures that were derived from stored reports. */
export async function storeDayFacts(
  tx: SqlTransaction,
  locationId: string,
  facts: readonly { id: string; dayFacts: string }[],
): Promise<void> {
  await tx`
    update reports set day_facts = derived.day_facts
    from jsonb_to_recordset(${toRecordsetParameter(tx, facts)}) as derived (id uuid, day_facts text)
    where reports.location_id = ${locationId} and reports.id = derived.id`;
}

/** Returns how many reports a day has, and a hash that changes with any of the first `limit`; null without reports. */
export async function countReportsOfDay(
  tx: SqlTransaction,
  { locationId, day }: DayKey,
  limit: number,
): Promise<{ count: number; hash: string | null }> {
  const [row] = await tx<[{ count: number; hash: string | null; total: number | null }]>`
    select count, hash, (
      select count from day_counts where location_id = ${locationId} and kind = 'report' and day = ${day}::text::date
    ) as total
    from (${reportsHash(tx, { locationId, day: tx`${day}::text::date`, limit })}) as reports`;
  return { count: row.count < limit ? row.count : (row.total ?? limit), hash: row.hash };
}

export interface StoredDay {
  day: string;
  state: string;
  revision: number;
  updatedAt: Date;
  etag: string;
  devices: DeviceDays;
}

/** Returns the stored days from `distance` days before a day to `distance` days after it, earliest first. */
export async function listDaysAround(
  tx: SqlTransaction,
  { locationId, day }: DayKey,
  distance: number,
): Promise<StoredDay[]> {
  return tx<StoredDay[]>`
    select day::text as day, state, revision, updated_at, etag, devices from days
    where location_id = ${locationId}
      and day between ${day}::text::date - ${distance}::int and ${day}::text::date + ${distance}::int
    order by day`;
}

export interface DayRow extends DayKey {
  state: string;
  revision: number;
  updatedAt: string;
  etag: string;
  reportsHash: string;
  devices: DeviceDays;
  body: string;
}

export async function upsertDay(tx: SqlTransaction, row: DayRow): Promise<void> {
  const { locationId, day, state, revision, updatedAt, etag, reportsHash: hash, devices, body } = row;
  await tx`
    insert into days (location_id, day, state, revision, updated_at, etag, reports_hash, devices, body)
    values (${locationId}, ${day}::text::date, ${state}, ${revision}, ${updatedAt}::timestamptz, ${etag}, ${hash},
      ${JSON.stringify(devices)}::text::jsonb, ${body})
    on conflict (location_id, day) do update set
      state = excluded.state, revision = excluded.revision, updated_at = excluded.updated_at, etag = excluded.etag,
      reports_hash = excluded.reports_hash, devices = excluded.devices, body = excluded.body`;
}

/** Records that a stored day is the same with the current reports. */
export async function updateReportsHash(tx: SqlTransaction, { locationId, day }: DayKey, hash: string): Promise<void> {
  await tx`update days set reports_hash = ${hash} where location_id = ${locationId} and day = ${day}::text::date`;
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

/** The reports that decide whether a stored day is current. If there are more, the day is not added up. */
export const maxHashedReports = maxTillsPerDay + 1;

/** Returns one day; undefined if it has no reports. */
export async function findDay(
  sql: SqlClient | SqlTransaction,
  { locationId, day }: DayKey,
): Promise<ListedDay | undefined> {
  const [row] = await sql<
    { body: string | null; etag: string | null; hash: string | null; storedHash: string | null }[]
  >`
    select body, etag, hash, reports_hash as stored_hash
    from (${reportsHash(sql, { locationId, day: sql`${day}::text::date`, limit: maxHashedReports })}) as current
      left join days on days.location_id = ${locationId} and days.day = ${day}::text::date`;
  if (!row || row.hash === null) return undefined;
  const isCurrent = row.hash === row.storedHash;
  return { day, etag: isCurrent ? row.etag : null, body: isCurrent ? row.body : null };
}

export interface DayListRange {
  since: string | null;
  until: string | null;
  /** Lists only days before this one. */
  before: string | null;
  offset: number;
  limit: number;
}

/** Returns the days of a location with reports, latest first, and their total number. */
export async function listDays(
  sql: SqlClient,
  locationId: string,
  { since, until, before, offset, limit }: DayListRange,
): Promise<{ days: ListedDay[]; total: number }> {
  const isCounted = sql`location_id = ${locationId} and kind = 'report' and count > 0
    and day between ${since ?? "0001-01-01"}::text::date and ${until ?? "9999-12-31"}::text::date`;
  const [days, [counted]] = await Promise.all([
    sql<ListedDay[]>`
      with page as (
        select day from day_counts where ${isCounted} and day < ${before ?? "infinity"}::text::date
        order by day desc offset ${offset} limit ${limit}
      )
      select page.day::text as day, case when is_current then etag end as etag, case when is_current then body end as body
      from page left join lateral (
        select etag, body, reports_hash = (
          select hash from (${reportsHash(sql, { locationId, day: sql`page.day`, limit: maxHashedReports })}) as reports
        ) as is_current
        from days where location_id = ${locationId} and days.day = page.day
      ) as stored on true
      order by page.day desc`,
    sql<[{ total: number }]>`select count(*) as total from day_counts where ${isCounted}`,
  ]);
  return { days, total: counted.total };
}
