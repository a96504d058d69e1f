import type { Database, Sql } from "@pragma/runtime/postgres";
import type { FoundStretch, Stretch } from "@pragma/runtime/reply-with-page";
import type { Position } from "../list-positions.ts";
import type { Kind } from "./stretches.ts";

/** Which records of a location a list shows. */
export interface ListFilter {
  locationId: string;
  kind: Kind;
  /** Days, both included; open-ended when null. */
  since: string | null;
  until: string | null;
  /** Only orders of this report; all when null. */
  reportId: string | null;
}

type StretchStart = Pick<Stretch<Position>, "after" | "offset">;

interface PageParts extends Stretch<Position> {
  /** The column that holds the wanted shape. */
  body: string;
  /** Of its texts: the first is given however large it is. */
  maxBytes: number;
}

const earliest = "0001-01-01";
const latest = "9999-12-31";

/**
 * One page of a location's reports or orders, newest first, as the texts of `body`.
 *
 * The cost is that of the page: totals and the start of any page come from the counted stretches, so it does not
 * matter how deep the page is, nor how many records there are.
 */
export async function findPage(
  { sql }: Database,
  filter: ListFilter,
  { after, offset, limit, body, maxBytes }: PageParts,
): Promise<FoundStretch<Position>> {
  const days = daysBetween(sql, filter);
  const { total, before, skip } = await (filter.reportId === null
    ? findStart(sql, filter, { after, offset, days })
    : findStartInReport(sql, filter, { after, offset, days }));
  if (!after && offset >= total) return { total, items: [], count: 0, last: null };
  // The texts are joined where they are, and stay bytes: a hundred rows, or decoding them, cost this process more.
  const [page] = await sql`
    with page as (
      select day, at, id, body, row_number() over newest_first as place
      from ${records(sql, filter.kind, body)} as record
      where location_id = ${filter.locationId} and day ${days}
        ${filter.reportId === null ? sql`` : sql`and report_id = ${filter.reportId}`}
        ${before ? sql`and (day, at, id) < (${before.day}::date, ${before.at}::timestamptz, ${before.id}::uuid)` : sql``}
      window newest_first as (order by record.day desc, record.at desc, record.id desc)
      order by record.day desc, record.at desc, record.id desc
      offset ${skip} limit ${limit + 1}
    ), ranked as (
      select *, row_number() over in_order as rank, sum(octet_length(body)) over in_order as bytes
      from page window in_order as (order by place)
    ), shown as (
      select * from ranked where rank = 1 or (rank <= ${limit} and bytes <= ${maxBytes})
    )
    select string_agg(body, ',' order by rank) as items, count(*)::int as count,
      (select count(*) from page)::int as found,
      (select json_build_object('id', id, 'day', day::text, 'at', to_json(at at time zone 'utc')#>>'{}' || 'Z')
       from shown order by rank desc limit 1) as place
    from shown`.raw();
  const [items, count, found, place] = page as [
    items: Buffer | null,
    count: Buffer,
    found: Buffer,
    place: Buffer | null,
  ];
  const hasMore = Number(found) > Number(count);
  return { total, items: items ?? [], count: Number(count), last: hasMore && place ? JSON.parse(String(place)) : null };
}

function records(sql: Sql, kind: Kind, body: string) {
  return kind === "report"
    ? sql`(select location_id, day, started_at as at, id, ${sql(body)} as body from reports)`
    : sql`(select location_id, report_id, day, opened_at as at, id, ${sql(body)} as body from orders where is_current)`;
}

type Fragment = ReturnType<typeof daysBetween>;

const daysBetween = (sql: Sql, { since, until }: ListFilter) =>
  sql`between ${since ?? earliest}::date and ${until ?? latest}::date`;

interface Start {
  total: number;
  /** The page begins so many records (`skip`) before this place; null: from the newest. */
  before: Position | null;
  skip: number;
}

async function findStart(
  sql: Sql,
  { locationId, kind }: ListFilter,
  { after, offset, days }: StretchStart & { days: Fragment },
): Promise<Start> {
  const ofLocation = sql`location_id = ${locationId} and kind = ${kind}`;
  if (after || offset === 0) {
    const [row] = await sql<{ total: number }[]>`
      select coalesce(sum(count), 0)::int as total from day_counts where ${ofLocation} and day ${days}`;
    return { total: row?.total ?? 0, before: after, skip: 0 };
  }
  const daysOfList = sql`from day_counts where ${ofLocation} and day ${days}`;
  const stretchesOfDay = sql`from stretches where ${ofLocation} and day = (select day from first_day)`;
  // Days, and the stretches of one day, are counted from the end that is nearer, only as far as it takes.
  const [row] = await sql<{ total: number; skip: number; day: string | null; at: string | null; id: string | null }[]>`
    with whole as (
      select coalesce(sum(count), 0)::bigint as records, ${offset}::bigint as skipped ${daysOfList}
    ), first_day as (
      (select day, count, up_to - count as before
       from (select day, count, sum(count) over (order by day desc rows unbounded preceding) as up_to ${daysOfList}) as newer
       where ${isNearStart(sql, "whole")} and up_to > (select skipped from whole)
       order by day desc limit 1)
      union all
      (select day, count, (select records from whole) - up_to as before
       from (select day, count, sum(count) over (order by day rows unbounded preceding) as up_to ${daysOfList}) as older
       where ${isNearEnd(sql, "whole")} and up_to >= (select records - skipped from whole)
       order by day limit 1)
    ), of_day as (
      select count::bigint as records, (select skipped from whole) - before as skipped from first_day
    ), first_stretch as (
      (select at, id, up_to - count as before
       from (
         select start_at, start_id, count, sum(count) over newest_first as up_to,
           lag(start_at) over newest_first as at, lag(start_id) over newest_first as id
         ${stretchesOfDay} window newest_first as (order by start_at desc, start_id desc rows unbounded preceding)
       ) as newer
       where ${isNearStart(sql, "of_day")} and up_to > (select skipped from of_day)
       order by start_at desc, start_id desc limit 1)
      union all
      (select at, id, (select records from of_day) - up_to as before
       from (
         select start_at, start_id, count, sum(count) over oldest_first as up_to,
           lead(start_at) over oldest_first as at, lead(start_id) over oldest_first as id
         ${stretchesOfDay} window oldest_first as (order by start_at, start_id rows unbounded preceding)
       ) as older
       where ${isNearEnd(sql, "of_day")} and up_to >= (select records - skipped from of_day)
       order by start_at, start_id limit 1)
    )
    select whole.records::int as total, first_day.day::text as day, first_stretch.at::text as at, first_stretch.id,
      (of_day.skipped - first_stretch.before)::int as skip
    from whole left join first_day on true left join of_day on true left join first_stretch on true`;
  if (!row?.day) return { total: row?.total ?? 0, before: null, skip: 0 };
  // The newest stretch of a day has none before it: it begins at the end of the day.
  const before = { day: row.day, at: row.at ?? "infinity", id: row.id ?? lastId };
  return { total: row.total, before, skip: row.skip };
}

const isNearStart = (sql: Sql, counted: string) =>
  sql`(select skipped * 2 <= records and skipped < records from ${sql(counted)})`;

const isNearEnd = (sql: Sql, counted: string) =>
  sql`(select skipped * 2 > records and skipped < records from ${sql(counted)})`;

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** A report's orders are as many as one till holds: few enough to be counted. */
async function findStartInReport(
  sql: Sql,
  { reportId, locationId }: ListFilter,
  { after, offset, days }: StretchStart & { days: Fragment },
): Promise<Start> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from orders
    where report_id = ${reportId} and location_id = ${locationId} and day ${days} and is_current`;
  const total = row?.total ?? 0;
  return { total, before: after, skip: after ? 0 : offset };
}
