import type { Database, SqlClient } from "@pragma/runtime/database/postgres";
import type { PageOfJsonItems, PageRange } from "@pragma/runtime/http/page-response";
import { decompressV2Order } from "../v2-order-compression.ts";
import type { ReportOrOrderKind } from "./day-counts.ts";

/** The position of a report or order in a list. Lists are sorted by day, then by instant, then by id. */
export interface ReportOrOrderPosition {
  id: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  at: string;
}

/** Selects the reports or orders of a location for a list. */
export interface ReportOrOrderFilter {
  locationId: string;
  kind: ReportOrOrderKind;
  /** The first and the last day of the list, both inclusive. If null, the list has no limit on that side. */
  since: string | null;
  until: string | null;
  /** Selects only orders of this report; null selects all orders. */
  reportId: string | null;
}

interface ReportOrOrderPageRange extends PageRange<ReportOrOrderPosition> {
  /** The column with the response bodies of the requested API version. */
  body: string;
  /** Maximum total size of the bodies of the page, in bytes. Only a page with a single item can exceed it. */
  maxBytes: number;
}

const earliestDay = "0001-01-01";
const latestDay = "9999-12-31";

/**
 * Returns one page of a location's reports or orders, newest first, as the JSON texts in the column `body`.
 *
 * The total and the day at which a page starts are computed from `day_counts`, so that an offset skips index entries of
 * only one day. A list of one report's orders does not use `day_counts`, because an offset in this list skips only
 * index entries of that report.
 */
export async function findReportOrOrderListPage(
  { sql }: Pick<Database, "sql">,
  filter: ReportOrOrderFilter,
  { after, offset, limit, body, maxBytes }: ReportOrOrderPageRange,
): Promise<PageOfJsonItems<ReportOrOrderPosition>> {
  const { isListed, isCounted, records } = listConditions(sql, filter, body);
  const isByOffset = !after && offset > 0;
  // Reads raw bytes, because the stored texts are sent unchanged. Decoding 100 bodies would take most of the time.
  const result: unknown = await sql`
    with ${isByOffset ? sql`first as (${positionAtOffset(sql, filter, offset)}),` : sql``} page as (
      select day, at, id, body from ${records} as record where ${isListed}
        ${after ? sql`and (day, at, id) < (${after.day}::date, ${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
        ${isByOffset ? sql`and (day, at, id) <= ((select day from first), (select at from first), (select id from first))` : sql``}
      order by day desc, at desc, id desc limit ${limit + 1}
    ), measured as (
      select *, row_number() over newest_first as number, sum(octet_length(body)) over newest_first as bytes
      from page window newest_first as (order by day desc, at desc, id desc rows unbounded preceding)
    ), list as (
      select (select count(*) from page) as row_count, ${
        filter.reportId === null
          ? sql`(select coalesce(sum(count), 0) from day_counts where ${isCounted})`
          : sql`(select count(*) from ${records} as record where ${isListed})`
      } as total
    )
    select body, id, day::text, to_json(at at time zone 'utc')#>>'{}' || 'Z', row_count, total
    from list left join measured on number = 1 or (number <= ${limit} and bytes <= ${maxBytes})
    order by number`.raw();
  const rows = result as [ReportOrOrderPageRow, ...ReportOrOrderPageRow[]];
  const [[, , , , rowCount, total]] = rows;
  const items = rows.flatMap(([body]) => body ?? []);
  const [, id, day, at] = rows.at(-1) as ReportOrOrderPageRow;
  const hasMore = Number(rowCount) > items.length;
  return {
    items,
    total: Number(total),
    last: hasMore ? { id: String(id), day: String(day), at: String(at) } : null,
  };
}

/** A row of a page. `body`, `id`, `day` and `at` are null in the only row of an empty page. */
type ReportOrOrderPageRow = [
  body: Buffer | null,
  id: Buffer | null,
  day: Buffer | null,
  at: Buffer | null,
  rowCount: Buffer,
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
 * Returns the stored response body of a report or order from the column `body`. If `locationId` is null, searches all
 * locations. If several locations have an order with this id, returns the order that was pushed last.
 */
export async function findReportOrOrderBody(
  { sql }: Pick<Database, "sql">,
  { kind, id, locationId, body }: { kind: ReportOrOrderKind; id: string; locationId: string | null; body: string },
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  const isRequested = sql`id = ${id} ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}`;
  const source =
    kind === "report"
      ? sql`reports where ${isRequested}`
      : sql`orders where ${isRequested} and is_current order by pushed_at desc limit 1`;
  const compressed = kind === "order" && body === "v2" ? sql`v2_deflated, v1` : sql`null, null`;
  const [row] = await sql`select etag, ${sql(body)}, ${compressed} from ${source}`.raw();
  if (!row) return undefined;
  const [etag, text, deflated, v1] = row as [Buffer, Buffer | null, Buffer | null, Buffer | null];
  if (deflated && v1) return { body: await decompressV2Order(decodeRawBytea(deflated), { v1 }), etag: String(etag) };
  return text ? { body: text, etag: String(etag) } : undefined;
}

/** Decodes the text in which PostgreSQL sends a bytea: `\x` and two hexadecimal digits per byte. */
function decodeRawBytea(text: Buffer): Buffer {
  return Buffer.from(text.toString("latin1", 2), "hex");
}

/** Selects the position of the item at an offset in the list. */
function positionAtOffset(sql: SqlClient, filter: ReportOrOrderFilter, offset: number) {
  const { isListed, isCounted, records } = listConditions(sql, filter, "etag");
  if (filter.reportId !== null) {
    return sql`
      select day, at, id from ${records} as record where ${isListed}
      order by day desc, at desc, id desc offset ${offset} limit 1`;
  }
  // Counts from the start or the end of the day, whichever is nearer, to skip fewer index entries.
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
