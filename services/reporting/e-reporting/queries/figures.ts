import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillKey } from "../../documents/queries/tills.ts";
import type { EReportFigures } from "../e-report-figures.ts";
import type { TillEReportData } from "../till-e-figures.ts";

interface TillEFiguresRow extends TillKey {
  reportId: string;
  day: string;
  orderIds: readonly string[];
  data: TillEReportData;
}

/**
 * Replaces the figures of a till, and records that its days have changed. Returns those of its orders that are excluded, for
 * `updateExcludedFigures`. The caller must lock the location first.
 */
export async function replaceTillEFigures(
  tx: SqlTransaction,
  { locationId, tillId, reportId, day, orderIds, data: { siret, siren, timeZone, figures } }: TillEFiguresRow,
): Promise<string[]> {
  const [{ previousSiren, excludedOrderIds }] = await tx<
    [{ previousSiren: string | null; excludedOrderIds: string[] }]
  >`
    with before as (
      select siren, day from e_till_figures
      where location_id = ${locationId} and till_id = ${tillId} and siren is not null
    ), stored as (
      insert into e_till_figures (location_id, till_id, report_id, day, siret, siren, time_zone, figures)
      values (
        ${locationId}, ${tillId}, ${reportId}, ${day}::text::date, ${siret}, ${siren}, ${timeZone}, ${figures}
      )
      on conflict (location_id, till_id) do update set
        report_id = excluded.report_id, day = excluded.day, siret = excluded.siret, siren = excluded.siren,
        time_zone = excluded.time_zone, figures = excluded.figures, excluded_order_ids = '{}', excluded_figures = null
    ), location_of_business as (
      insert into e_business_locations as existing (location_id, siren, time_zone)
      select ${locationId}, ${siren}::text, ${timeZone} where ${siren}::text is not null
      on conflict (location_id, siren) do update set time_zone = excluded.time_zone
      where existing.time_zone <> excluded.time_zone
    ), changed as (
      insert into e_changed_days (location_id, siren, day)
      select ${locationId}::uuid, siren, day from before
      union select ${locationId}::uuid, ${siren}::text, ${day}::text::date where ${siren}::text is not null
      order by 2, 3
      ${onConflictLock(tx)}
    )
    select (select siren from before) as previous_siren, array(
      select order_id from e_excluded_orders
      where location_id = ${locationId} and order_id = any(${[...orderIds]}::uuid[]) order by order_id
    ) as excluded_order_ids`;
  if (previousSiren !== null && previousSiren !== siren) await deleteUnusedSirens(tx, locationId);
  return excludedOrderIds;
}

/** Locks a row that exists, so that a comparison that deletes it waits for this transaction, and reads what it wrote. */
const onConflictLock = (tx: SqlTransaction) =>
  tx`on conflict (location_id, siren, day) do update set day = excluded.day`;

/** Replaces which orders of a till are left out, with their figures, and records that its day has changed. */
export async function updateExcludedFigures(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
  { orderIds, figures }: { orderIds: readonly string[]; figures: EReportFigures | null },
): Promise<void> {
  const text = orderIds.length === 0 || !figures ? null : JSON.stringify(figures);
  await tx`
    with updated as (
      update e_till_figures set excluded_order_ids = ${[...orderIds]}::uuid[], excluded_figures = ${text}
      where location_id = ${locationId} and till_id = ${tillId} returning location_id, siren, day
    )
    insert into e_changed_days (location_id, siren, day)
    select location_id, siren, day from updated where siren is not null ${onConflictLock(tx)}`;
}

/** Records that days of a location have changed for its businesses, for example because they have other states. */
export async function recordChangedDays(
  tx: SqlTransaction,
  { locationId, days }: { locationId: string; days: readonly string[] },
): Promise<void> {
  if (days.length === 0) return;
  await tx`
    insert into e_changed_days (location_id, siren, day)
    select location_id, siren, day from e_business_locations, unnest(${[...days]}::text[]::date[]) as day
    where location_id = ${locationId} order by siren, day ${onConflictLock(tx)}`;
}

/** Records that a period of a business must be compared. */
export async function recordChangedPeriod(
  tx: SqlTransaction,
  { siren, period, locationIds }: { siren: string; period: string; locationIds: readonly string[] },
): Promise<void> {
  const [locationId] = locationIds;
  if (locationId === undefined) return;
  await tx`
    insert into e_changed_days (location_id, siren, day) values (${locationId}, ${siren}, ${period}::text::date)
    ${onConflictLock(tx)}`;
}

/** Deletes the figures of a till, and records that its day has changed. */
export async function deleteTillEFigures(tx: SqlTransaction, { locationId, tillId }: TillKey): Promise<void> {
  const deleted = await tx`
    with deleted as (
      delete from e_till_figures where location_id = ${locationId} and till_id = ${tillId} returning siren, day
    ), changed as (
      insert into e_changed_days (location_id, siren, day)
      select ${locationId}::uuid, siren, day from deleted where siren is not null ${onConflictLock(tx)}
    )
    select siren from deleted where siren is not null`;
  if (deleted.length > 0) await deleteUnusedSirens(tx, locationId);
}

/** Deletes the SIRENs of a location that none of its tills states any more. */
async function deleteUnusedSirens(tx: SqlTransaction, locationId: string): Promise<void> {
  await tx`
    delete from e_business_locations as stated where location_id = ${locationId} and not exists (
      select from e_till_figures as figures
      where figures.location_id = ${locationId} and figures.siren = stated.siren
    )`;
}

export interface StoredTillEFigures extends TillKey {
  reportId: string;
  day: string;
  /** `EReportFigures` as JSON; null if a sum is too large. */
  figures: string | null;
  /** The orders that are left out, and their figures; null without such orders. */
  excludedOrderIds: string[];
  excludedFigures: string | null;
}

interface DayRange {
  since: string;
  until: string;
}

const tillsInBatch = 100;

/** Yields the figures of the tills that locations have of a business in batches, sorted by day, location and till. */
export function listTillEFigures(
  sql: SqlClient | SqlTransaction,
  siren: string,
  locationIds: readonly string[],
  { since, until }: DayRange,
): AsyncIterable<StoredTillEFigures[]> {
  const rows = sql<StoredTillEFigures[]>`
    select location_id, till_id, report_id, day::text as day, figures, excluded_order_ids, excluded_figures
    from e_till_figures
    where siren = ${siren} and location_id = any(${[...locationIds]}::uuid[])
      and day between ${since}::text::date and ${until}::text::date
    order by e_till_figures.day, location_id, till_id`;
  return rows.cursor(tillsInBatch);
}

export interface LocationOfSiren {
  locationId: string;
  /** The time zone in which the days of its tills were computed. */
  timeZone: string;
}

/** Returns the locations whose tills have a SIRET of a business, that of the first such till first. */
export async function listLocationsOfSiren(sql: SqlClient | SqlTransaction, siren: string): Promise<LocationOfSiren[]> {
  return sql<LocationOfSiren[]>`
    select location_id, time_zone from e_business_locations where siren = ${siren} order by stated_at, location_id`;
}

export interface UnclosedDay {
  locationId: string;
  day: string;
  state: "open" | "incomplete" | "without_figures" | "without_siren";
}

/**
 * Returns the days of locations that are not closed, and those with tills that have no figures or no SIREN: at most `limit`
 * in each period, those first that a report cannot be taken with.
 */
export async function listUnclosedDays(
  sql: SqlClient | SqlTransaction,
  locationIds: readonly string[],
  periods: readonly { first: string; last: string }[],
  limit: number,
): Promise<UnclosedDay[]> {
  const [firstDays, lastDays] = [periods.map(({ first }) => first), periods.map(({ last }) => last)];
  const range = sql`between ${firstDays[0] ?? ""}::text::date and ${lastDays.at(-1) ?? ""}::text::date`;
  return sql`
    select location_id, day::text as day, state from (
      select *, row_number() over (
        partition by period.first_day order by state = 'incomplete', unclosed.day, location_id, state
      ) as place
      from (
        select location_id, day, state from days
        where location_id = any(${[...locationIds]}::uuid[]) and state <> 'closed' and day ${range}
        union
        select reports.location_id, reports.day, 'without_figures' from reports
        left join e_till_figures as figures
          on figures.location_id = reports.location_id and figures.till_id = reports.till_id
        where reports.location_id = any(${[...locationIds]}::uuid[]) and reports.day ${range} and (
          figures.figures is null or (figures.excluded_order_ids <> '{}' and figures.excluded_figures is null)
        )
        union
        select location_id, day, 'without_siren' from e_till_figures
        where location_id = any(${[...locationIds]}::uuid[]) and siren is null and day ${range}
      ) as unclosed
      join unnest(${firstDays}::text[]::date[], ${lastDays}::text[]::date[]) as period (first_day, last_day)
        on unclosed.day between first_day and last_day
    ) as placed
    where place <= ${limit} order by placed.day, location_id, state`;
}

/** Returns the SIRETs that tills of locations state wrongly, with the last day on which they did. */
export async function listWrongSirets(sql: SqlClient, locationId: string | null, limit: number) {
  return sql<{ locationId: string; siret: string; lastDay: string }[]>`
    select location_id, siret, max(day)::text as last_day from e_till_figures
    where siren is null and siret <> '' and ${locationId === null ? sql`true` : sql`location_id = ${locationId}`}
    group by location_id, siret order by max(day) desc, location_id limit ${limit}`;
}
