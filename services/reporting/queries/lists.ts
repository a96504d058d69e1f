import type { Database, Sql } from "@pragma/runtime/postgres";
import type { FoundPage, PageRange } from "@pragma/runtime/reply-with-page";
import type { Kind } from "./day-counts.ts";

/** Where a report or order stands in the lists of its location: by day, then instant, then id. */
export interface Position {
  id: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  at: string;
}

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

interface PageParts extends PageRange<Position> {
  /** The column that holds the wanted shape. */
  body: string;
  /** Of its texts: the first is given however large it is. */
  maxBytes: number;
}

const earliest = "0001-01-01";
const latest = "9999-12-31";

/**
 * Returns one page of a location's reports or orders, newest first, as the texts of `body`.
 *
 * Totals, and the day that a page begins in, come from the counts of days: only entries of an index are passed over,
 * of that day or of one report.
 */
export async function findPage(
  { sql }: Database,
  filter: ListFilter,
  { after, offset, limit, body, maxBytes }: PageParts,
): Promise<FoundPage<Position>> {
  const { isListed, isCounted, records } = conditionsOf(sql, filter, body);
  const isByOffset = !after && offset > 0;
  // As bytes: what is stored is sent, and to decode a hundred texts would cost more than the rest of the request.
  const found: unknown = await sql`
    with ${isByOffset ? sql`first as (${firstAfter(sql, filter, offset)}),` : sql``} page as (
      select day, at, id, body from ${records} as record where ${isListed}
        ${after ? sql`and (day, at, id) < (${after.day}::date, ${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
        ${isByOffset ? sql`and (day, at, id) <= ((select day from first), (select at from first), (select id from first))` : sql``}
      order by day desc, at desc, id desc limit ${limit + 1}
    ), measured as (
      select *, row_number() over newest_first as number, sum(octet_length(body)) over newest_first as bytes
      from page window newest_first as (order by day desc, at desc, id desc rows unbounded preceding)
    ), list as (
      select (select count(*) from page) as found, ${
        filter.reportId === null
          ? sql`(select coalesce(sum(count), 0) from day_counts where ${isCounted})`
          : sql`(select count(*) from ${records} as record where ${isListed})`
      } as total
    )
    select body, id, day::text, to_json(at at time zone 'utc')#>>'{}' || 'Z', found, total
    from list left join measured on number = 1 or (number <= ${limit} and bytes <= ${maxBytes})
    order by number`.raw();
  const rows = found as [Row, ...Row[]];
  const [[, , , , count, total]] = rows;
  const items = rows.flatMap(([body]) => body ?? []);
  const [, id, day, at] = rows.at(-1) as Row;
  const hasMore = Number(count) > items.length;
  return {
    items,
    total: Number(total),
    last: hasMore ? { id: String(id), day: String(day), at: String(at) } : null,
  };
}

/** Its body and place, which are null in the one row of an empty page, then how many were found and are in the list. */
type Row = [
  body: Buffer | null,
  id: Buffer | null,
  day: Buffer | null,
  at: Buffer | null,
  found: Buffer,
  total: Buffer,
];

function conditionsOf(sql: Sql, { locationId, kind, since, until, reportId }: ListFilter, body: string) {
  const isInDays = sql`day between ${since ?? earliest}::date and ${until ?? latest}::date`;
  return {
    isListed: sql`location_id = ${locationId} and ${isInDays} ${reportId === null ? sql`` : sql`and report_id = ${reportId}`}`,
    isCounted: sql`location_id = ${locationId} and kind = ${kind} and ${isInDays}`,
    records:
      kind === "report"
        ? sql`(select location_id, day, started_at as at, id, ${sql(body)} as body from reports)`
        : sql`(select location_id, report_id, day, opened_at as at, id, ${sql(body)} as body from orders where is_current)`,
  };
}

/**
 * A report's or order's reply in one of its shapes, as it is stored; `locationId` null finds that of any location: of
 * orders the one pushed last.
 */
export async function findRecord(
  { sql }: Database,
  { kind, id, locationId, body }: { kind: Kind; id: string; locationId: string | null; body: string },
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  const isMeant = sql`id = ${id} ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}`;
  const source =
    kind === "report"
      ? sql`reports where ${isMeant}`
      : sql`orders where ${isMeant} and is_current order by pushed_at desc limit 1`;
  const [row] = await sql`select ${sql(body)}, etag from ${source}`.raw();
  if (!row) return undefined;
  const [text, etag] = row as [Buffer, Buffer];
  return { body: text, etag: String(etag) };
}

/** The place of the record that so many others precede. */
function firstAfter(sql: Sql, filter: ListFilter, offset: number) {
  const { isListed, isCounted, records } = conditionsOf(sql, filter, "etag");
  if (filter.reportId !== null) {
    return sql`
      select day, at, id from ${records} as record where ${isListed}
      order by day desc, at desc, id desc offset ${offset} limit 1`;
  }
  // Within the day, from the end that is nearer.
  return sql`
    with first_day as (
      select day, count, ${offset} - (up_to - count) as skip
      from (select day, count, sum(count) over (order by day desc) as up_to from day_counts where ${isCounted}) as counted
      where up_to > ${offset} order by day desc limit 1
    )
    (select day, at, id from ${records} as record
     where ${isListed} and day = (select day from first_day where skip * 2 <= count)
     order by at desc, id desc offset (select skip from first_day) limit 1)
    union all
    (select day, at, id from ${records} as record
     where ${isListed} and day = (select day from first_day where skip * 2 > count)
     order by at, id offset (select count - skip - 1 from first_day) limit 1)`;
}
