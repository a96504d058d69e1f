import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";
import type { PageOfJsonItems, PageRange } from "@pragma/runtime/http/page-response";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import {
  type PackedReferenceColumns,
  type PackedResponseReference,
  parsePackedReference,
  readPackedBodies,
} from "../packing/packed-reader.ts";
import type { DocumentKind } from "./day-counts.ts";
import { packedTillIndex } from "./packed-tills.ts";

/** Where reports and orders are read: a connection pool, and the object store with packed tills. */
export interface DocumentStores {
  sql: SqlClient;
  objects: Pick<CompressingObjectStore, "getStoredRange">;
}

/** The position of a report or order in a list. Lists are sorted by day, then by instant, then by id. */
export interface DocumentPosition {
  id: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  at: string;
}

/** Selects the reports or orders of a location for a list. */
export interface DocumentFilter {
  locationId: string;
  kind: DocumentKind;
  /** The first and the last day of the list, both inclusive. If null, the list has no limit on that side. */
  since: string | null;
  until: string | null;
  /** Selects only orders of this report; null selects all orders. */
  reportId: string | null;
  /** Selects only the report of this till; null selects all reports. */
  tillId: string | null;
}

export interface DocumentPageRange extends PageRange<DocumentPosition> {
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
 * index entries of that report. Neither does a list of one till's report.
 *
 * Most pages contain no packed texts, so the first statement does not read the tables of packed tills. Its result tells
 * whether the page is complete. Otherwise, a second statement reads all tables, and packed texts are read from the object
 * store.
 */
export async function findDocumentPage(
  { sql, objects }: DocumentStores,
  filter: DocumentFilter,
  range: DocumentPageRange,
): Promise<PageOfJsonItems<DocumentPosition>> {
  const stored = await selectPage(sql, filter, range, { withPacked: false });
  const rows = isCompletePage(stored, filter, range)
    ? stored
    : await selectPage(sql, filter, range, { withPacked: true });
  const [[, , , , rowCount, total]] = rows;
  const found = rows.flatMap(([body, id, , , , , , , ...reference]) =>
    id ? [body?.length ? body : parsePackedReference(reference)] : [],
  );
  const references = found.filter((item): item is PackedResponseReference => !Buffer.isBuffer(item));
  const packed = references.length === 0 ? [] : await readPackedBodies(objects, references);
  const packedTexts = packed.values();
  const items = found.map((item, index) => {
    const text = Buffer.isBuffer(item) ? item : (packedTexts.next().value as Buffer);
    return filter.kind === "report" ? addTillId(text, String(rows[index]?.[7])) : text;
  });
  const [, id, day, at] = rows.at(-1) as DocumentPageRow;
  const hasMore = Number(rowCount) > items.length;
  return {
    items,
    total: Number(total),
    last: hasMore ? { id: String(id), day: String(day), at: String(at) } : null,
  };
}

/** A row of a page. `body`, `id`, `day` and `at` are null in the only row of an empty page. */
type DocumentPageRow = [
  body: Buffer | null,
  id: Buffer | null,
  day: Buffer | null,
  at: Buffer | null,
  rowCount: Buffer,
  total: Buffer,
  /** The latest day of a packed order of the location; null for reports and if no order is packed. */
  latestPackedDay: Buffer | null,
  /** The id of a report's till; null for orders. */
  tillId: Buffer | null,
  ...PackedReferenceColumns,
];

type DocumentPageRows = [DocumentPageRow, ...DocumentPageRow[]];

/** Returns whether a page that was read without packed tills cannot lack a packed order or text. */
function isCompletePage(
  rows: DocumentPageRows,
  { kind, since, reportId }: DocumentFilter,
  { limit }: DocumentPageRange,
): boolean {
  // A packed till has its row in `reports`, but without the texts.
  if (kind === "report") return rows.every(([body, id]) => body || !id);
  const [[, , , , rowCount, total, latestPackedDay]] = rows;
  if (latestPackedDay === null) return true;
  // Either all orders of a report are packed, or none.
  if (reportId !== null) return Number(total) > 0;
  const latest = String(latestPackedDay);
  if (since !== null && since > latest) return true;
  const [, , lastDay] = rows.at(-1) as DocumentPageRow;
  return Number(rowCount) > limit && String(lastDay) > latest;
}

async function selectPage(
  sql: SqlClient,
  filter: DocumentFilter,
  { after, offset, limit, body, maxBytes }: DocumentPageRange,
  { withPacked }: { withPacked: boolean },
): Promise<DocumentPageRows> {
  const { locationId, kind, reportId, tillId } = filter;
  const isByOffset = !after && offset > 0;
  const isCountedByDay = reportId === null && tillId === null;
  const isCountedByPeriod = isCountedByDay && isByOffset;
  const { stored, packed } = listSources(sql, filter, { body, withPacked });
  const isAfter = after
    ? sql`and day <= ${after.day}::date
        and (day, at, id) < (${after.day}::date, ${after.at}::timestamptz, ${after.id}::uuid)`
    : isByOffset
      ? sql`and day <= (select day from first)
          and (day, at, id) <= ((select day from first), (select at from first), (select id from first))`
      : sql``;
  const startDay = after ? sql`${after.day}::date` : isByOffset ? sql`(select day from first)` : null;
  const newestFirst = sql`order by day desc, at desc, id desc limit ${limit + 1}`;
  // Without this condition, PostgreSQL may sort all packed orders, because it does not know how many orders a row has.
  const isInLastDays =
    reportId === null ? sql`and day >= coalesce((select day from last_day), ${earliestDay}::date)` : sql``;
  const page = packed
    ? sql`select * from (
        (select * from ${stored} ${isAfter} ${newestFirst})
        union all (select * from ${packed} ${isAfter} ${isInLastDays} ${newestFirst})
      ) as both_sources ${newestFirst}`
    : sql`select * from ${stored} ${isAfter} ${newestFirst}`;
  // Reads raw bytes, because the stored texts are sent unchanged. Decoding 100 bodies would take most of the time.
  const rows: unknown = await sql`
    with ${isCountedByPeriod ? sql`periods as materialized (${sumCountsByPeriod(sql, filter)}),` : sql``}
    ${isByOffset ? sql`first as (${positionAtOffset(sql, filter, { offset, withPacked })}),` : sql``}
    ${packed && reportId === null ? sql`last_day as (${lastDayOfPage(sql, filter, { startDay, limit })}),` : sql``}
    page as (${page}),
    measured as (
      select *, row_number() over newest_first as number, sum(bytes) over newest_first as total_bytes
      from page window newest_first as (order by day desc, at desc, id desc rows unbounded preceding)
    ), counts as (
      select (select count(*) from page) as row_count, ${
        isCountedByPeriod
          ? sql`(select coalesce(sum(count), 0) from periods)`
          : isCountedByDay
            ? sql`(select coalesce(sum(count), 0) from day_counts where ${isCounted(sql, filter)})`
            : sql`(select count(*) from ${stored}) ${packed ? sql`+ (select count(*) from ${packed})` : sql``}`
      } as total, ${
        kind === "order" ? sql`(select latest_day from packed_days where location_id = ${locationId})` : sql`null::date`
      } as latest_packed_day
    )
    select body, id, day::text, to_json(at at time zone 'utc')#>>'{}' || 'Z', row_count, total, latest_packed_day::text,
      report_till_id
      ${withPacked ? sql`, ${packedTillIndex(sql)}, position` : sql``}
    from counts left join measured on number = 1 or (number <= ${limit} and total_bytes <= ${maxBytes})
    ${withPacked ? sql`left join packed_tills on location_id = ${locationId} and packed_tills.till_id = packed_till_id` : sql``}
    order by number`.raw();
  return rows as DocumentPageRows;
}

const tillIdBytes = 48;

/**
 * Returns the JSON of a report with the id of its till as the last member. The stored texts do not contain it, because
 * those of packed tills cannot be changed.
 */
function addTillId(report: Buffer, tillId: string): Buffer {
  const text = Buffer.allocUnsafe(report.byteLength + tillIdBytes);
  const end = report.copy(text, 0, 0, report.byteLength - 1);
  text.write(`,"tillId":"${tillId}"}`, end, "latin1");
  return text;
}

function isCounted(sql: SqlClient, { locationId, kind, since, until }: DocumentFilter) {
  return sql`location_id = ${locationId} and kind = ${kind}
    and day between ${since ?? earliestDay}::date and ${until ?? latestDay}::date`;
}

/** The number of days whose counts are added up before an offset is searched, so that few sums need to be sorted. */
const daysPerPeriod = 64;
const firstPeriodDay = "2000-01-01";

function sumCountsByPeriod(sql: SqlClient, filter: DocumentFilter) {
  return sql`
    select (day - ${firstPeriodDay}::date) / ${daysPerPeriod}::int as period, sum(count) as count
    from day_counts where ${isCounted(sql, filter)} group by 1`;
}

/**
 * Selects the latest day for which the days from there to `startDay` have more than `limit` orders, without those of
 * `startDay`, of which the page may contain only a part. Selects nothing if they have fewer.
 */
function lastDayOfPage(
  sql: SqlClient,
  filter: DocumentFilter,
  { startDay, limit }: { startDay: SqlFragment | null; limit: number },
) {
  return sql`
    select day from (
      select day, sum(count) over (order by day desc rows unbounded preceding) as up_to from (
        select day, count from day_counts
        where ${isCounted(sql, filter)} and count > 0 ${startDay ? sql`and day < ${startDay}` : sql``}
        order by day desc limit ${limit + 1}
      ) as days
    ) as counted
    where up_to > ${limit} order by day desc limit 1`;
}

/**
 * Returns the rows of a list as SQL that ends in a condition. `stored` reads `reports` or `orders`. `packed` reads the
 * orders of packed tills; null if these are not to be read, or for reports, because a packed till has its row in
 * `reports`.
 */
function listSources(
  sql: SqlClient,
  { locationId, kind, since, until, reportId, tillId }: DocumentFilter,
  { body, withPacked }: { body: string; withPacked: boolean },
) {
  const isInDays = sql`day between ${since ?? earliestDay}::date and ${until ?? latestDay}::date`;
  if (kind === "report") {
    const stored = sql`(
      select day, started_at as at, id, ${sql(body)} as body,
        coalesce(octet_length(${sql(body)}), packed_v0_bytes) + ${tillIdBytes}::int as bytes,
        case when v2 is null then till_id end as packed_till_id, null::int as position, till_id as report_till_id
      from reports where location_id = ${locationId} ${tillId === null ? sql`` : sql`and till_id = ${tillId}`}
    ) as record where ${isInDays}`;
    return { stored, packed: null };
  }
  const stored = sql`(
    select day, opened_at as at, id, ${sql(body)} as body, octet_length(${sql(body)}) as bytes,
      null::uuid as packed_till_id, null::int as position, null::uuid as report_till_id
    from orders
    where location_id = ${locationId} and is_current ${reportId === null ? sql`` : sql`and report_id = ${reportId}`}
  ) as record where ${isInDays}`;
  if (!withPacked) return { stored, packed: null };
  const isOfReport =
    reportId === null
      ? sql``
      : sql`and till_id = (select till_id from reports where location_id = ${locationId} and id = ${reportId})`;
  const packed = sql`(
    select day, at, id, null::text as body, v1_size as bytes, till_id as packed_till_id,
      first_position + number::int - 1 as position, null::uuid as report_till_id
    from packed_orders, unnest(ids, opened_at, v1_bytes) with ordinality as packed (id, at, v1_size, number)
    where location_id = ${locationId} and is_current ${isOfReport}
  ) as record where ${isInDays}`;
  return { stored, packed };
}

function positionAtOffset(
  sql: SqlClient,
  filter: DocumentFilter,
  { offset, withPacked }: { offset: number; withPacked: boolean },
) {
  const { stored, packed } = listSources(sql, filter, { body: "etag", withPacked });
  /** Selects the position after `skip` others. Each source is read in its own order, and only as far as necessary. */
  const positionAfter = (skip: SqlFragment, condition: SqlFragment, order: SqlFragment) => {
    const readSource = (source: SqlFragment) => sql`
      (select day, at, id from ${source} ${condition} order by ${order} limit ${skip} + 1)`;
    const sources = packed ? sql`${readSource(stored)} union all ${readSource(packed)}` : readSource(stored);
    return sql`(select day, at, id from (${sources}) as positions order by ${order} offset ${skip} limit 1)`;
  };
  const newestFirst = sql`day desc, at desc, id desc`;
  if (filter.reportId !== null || filter.tillId !== null)
    return positionAfter(sql`${offset}::bigint`, sql``, newestFirst);
  // Counts from the start or the end of the day, whichever is nearer, to skip fewer index entries.
  const fromStart = sql`(select skip from first_day)`;
  const fromEnd = sql`(select count - skip - 1 from first_day)`;
  return sql`
    with first_period as (
      select period, up_to - count as before from (
        select period, count, (sum(count) over (order by period desc rows unbounded preceding))::bigint as up_to
        from periods
      ) as counted
      where up_to > ${offset} order by period desc limit 1
    ), first_day as (
      select day, count, ${offset} - (up_to - count) as skip
      from (
        select day, count, before + sum(count) over (order by day desc rows unbounded preceding) as up_to
        from first_period, day_counts
        where ${isCounted(sql, filter)} and (day - ${firstPeriodDay}::date) / ${daysPerPeriod}::int = period
          and day between ${firstPeriodDay}::date + (select period - 1 from first_period) * ${daysPerPeriod}::int
          and ${firstPeriodDay}::date + (select period + 1 from first_period) * ${daysPerPeriod}::int
      ) as counted
      where up_to > ${offset} order by day desc limit 1
    )
    ${positionAfter(fromStart, sql`and day = (select day from first_day where skip * 2 <= count)`, newestFirst)}
    union all
    ${positionAfter(fromEnd, sql`and day = (select day from first_day where skip * 2 > count)`, sql`day, at, id`)}`;
}
