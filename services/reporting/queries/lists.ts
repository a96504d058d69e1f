import type { Database, Sql } from "@pragma/runtime/postgres";
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

/** Where a page begins: so many pages from the newest, or right after a record. */
export type PageStart = { index: number } | { after: Position };

interface Page {
  total: number;
  /** JSON texts, newest first, joined by commas. */
  items: string;
  /** The last item's place, when there are more after it. */
  last: Position | null;
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
  { start, size, body }: { start: PageStart; size: number; body: string },
): Promise<Page> {
  const days = daysBetween(sql, filter);
  const { total, before, skip } = await (filter.reportId === null
    ? findStart(sql, filter, { start, size, days })
    : findStartInReport(sql, filter, { start, size, days }));
  if ("index" in start && start.index * size >= total) return { total, items: "", last: null };
  // The texts are joined where they are: one long text costs this process less than a hundred rows.
  const [page] = await sql<{ items: string | null; found: number; place: Position | null }[]>`
    with page as (
      select day, at, id, body, row_number() over newest_first as place
      from ${records(sql, filter.kind, body)} as record
      where location_id = ${filter.locationId} and day ${days}
        ${filter.reportId === null ? sql`` : sql`and report_id = ${filter.reportId}`}
        ${before ? sql`and (day, at, id) < (${before.day}::date, ${before.at}::timestamptz, ${before.id}::uuid)` : sql``}
      window newest_first as (order by record.day desc, record.at desc, record.id desc)
      order by record.day desc, record.at desc, record.id desc
      offset ${skip} limit ${size + 1}
    ), ranked as (
      select *, row_number() over (order by place) as rank from page
    )
    select string_agg(body, ',' order by rank) filter (where rank <= ${size}) as items, count(*)::int as found,
      (select json_build_object('id', id, 'day', day::text, 'at', to_json(at at time zone 'utc')#>>'{}' || 'Z')
       from ranked where rank = ${size}) as place
    from ranked`;
  return {
    total,
    items: page?.items ?? "",
    last: page && page.found > size ? page.place : null,
  };
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
  { start, size, days }: { start: PageStart; size: number; days: Fragment },
): Promise<Start> {
  const ofLocation = sql`location_id = ${locationId} and kind = ${kind}`;
  if ("after" in start || start.index === 0) {
    const [row] = await sql<{ total: number }[]>`
      select coalesce(sum(count), 0)::int as total from day_counts where ${ofLocation} and day ${days}`;
    return { total: row?.total ?? 0, before: "after" in start ? start.after : null, skip: 0 };
  }
  const offset = start.index * size;
  const [row] = await sql<{ total: number; skip: number; day: string | null; at: string | null; id: string | null }[]>`
    with day_ends as (
      select day, count, sum(count) over (order by day desc) as up_to
      from day_counts where ${ofLocation} and day ${days}
    ), first_day as (
      select day, up_to - count as before from day_ends where up_to > ${offset}::bigint and count > 0 order by up_to limit 1
    ), stretch_ends as (
      select stretches.count, first_day.before + sum(stretches.count) over newest_first as up_to,
        lag(start_at) over newest_first as at, lag(start_id) over newest_first as id
      from stretches join first_day on stretches.day = first_day.day where ${ofLocation}
      window newest_first as (order by start_at desc, start_id desc)
    ), first_stretch as (
      select * from stretch_ends where up_to > ${offset}::bigint and count > 0 order by up_to limit 1
    )
    select (select coalesce(max(up_to), 0)::int from day_ends) as total, first_day.day::text as day,
      first_stretch.at::text as at, first_stretch.id, (${offset}::bigint - (first_stretch.up_to - first_stretch.count))::int as skip
    from (select) as one left join first_day on true left join first_stretch on true`;
  if (!row?.day) return { total: row?.total ?? 0, before: null, skip: 0 };
  // The newest stretch of a day has none before it: it begins at the end of the day.
  const before = { day: row.day, at: row.at ?? "infinity", id: row.id ?? lastId };
  return { total: row.total, before, skip: row.skip };
}

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** A report's orders are as many as one till holds: few enough to be counted. */
async function findStartInReport(
  sql: Sql,
  { reportId, locationId }: ListFilter,
  { start, size, days }: { start: PageStart; size: number; days: Fragment },
): Promise<Start> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from orders
    where report_id = ${reportId} and location_id = ${locationId} and day ${days} and is_current`;
  const total = row?.total ?? 0;
  return "after" in start ? { total, before: start.after, skip: 0 } : { total, before: null, skip: start.index * size };
}
