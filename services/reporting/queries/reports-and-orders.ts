import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import type { PageRange, PageResult } from "@pragma/runtime/http/page-response";
import type { ReportOrOrder } from "./day-counts.ts";

/** Where a report or order stands in the lists of its location: by day, then instant, then id. */
export interface ReportOrOrderPosition {
  id: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  at: string;
}

/** Which records of a location a list shows. */
export interface ReportOrOrderFilter {
  locationId: string;
  kind: ReportOrOrder;
  /** Days, both included; open-ended when null. */
  since: string | null;
  until: string | null;
  /** Only orders of this report; all when null. */
  reportId: string | null;
}

interface ReportOrOrderPageRange extends PageRange<ReportOrOrderPosition> {
  /** The column that holds the wanted shape. */
  body: string;
  /** Of its texts: the first is given however large it is. */
  maxBytes: number;
}

const earliestDay = "0001-01-01";
const latestDay = "9999-12-31";

/**
 * Returns one page of a location's reports or orders, newest first, as the texts of `body`.
 *
 * Totals, and the day that a page begins in, come from the counts of days: only entries of an index are passed over,
 * of that day or of one report.
 */
export async function findReportOrOrderPage(
  { sql }: Database,
  filter: ReportOrOrderFilter,
  { after, offset, limit, body, maxBytes }: ReportOrOrderPageRange,
): Promise<PageResult<ReportOrOrderPosition>> {
  const { isListed, isCounted, records } = listConditions(sql, filter, body);
  const isByOffset = !after && offset > 0;
  // As bytes: what is stored is sent, and to decode a hundred texts would cost more than the rest of the request.
  const found: unknown = await sql`
    with ${isByOffset ? sql`first as (${positionAtOffset(sql, filter, offset)}),` : sql``} page as (
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
  const rows = found as [ReportOrOrderPageRow, ...ReportOrOrderPageRow[]];
  const [[, , , , count, total]] = rows;
  const items = rows.flatMap(([body]) => body ?? []);
  const [, id, day, at] = rows.at(-1) as ReportOrOrderPageRow;
  const hasMore = Number(count) > items.length;
  return {
    items,
    total: Number(total),
    last: hasMore ? { id: String(id), day: String(day), at: String(at) } : null,
  };
}

/** Its body and place, which are null in the one row of an empty page, then how many were found and are in the list. */
type ReportOrOrderPageRow = [
  body: Buffer | null,
  id: Buffer | null,
  day: Buffer | null,
  at: Buffer | null,
  found: Buffer,
  total: Buffer,
];

function listConditions(
  sql: SqlClient,
  { locationId, kind, since, until, reportId }: ReportOrOrderFilter,
  body: string,
) {
  const isInDays = sql`day between ${since ?? earliestDay}::date and ${until ?? latestDay}::date`;
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
export async function findReportOrOrder(
  { sql }: Database,
  { kind, id, locationId, body }: { kind: ReportOrOrder; id: string; locationId: string | null; body: string },
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  const isRequested = sql`id = ${id} ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}`;
  const source =
    kind === "report"
      ? sql`reports where ${isRequested}`
      : sql`orders where ${isRequested} and is_current order by pushed_at desc limit 1`;
  const [row] = await sql`select ${sql(body)}, etag from ${source}`.raw();
  if (!row) return undefined;
  const [text, etag] = row as [Buffer, Buffer];
  return { body: text, etag: String(etag) };
}

/** The place of the record that so many others precede. */
function positionAtOffset(sql: SqlClient, filter: ReportOrOrderFilter, offset: number) {
  const { isListed, isCounted, records } = listConditions(sql, filter, "etag");
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
