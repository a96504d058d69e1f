import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";
import type { PageOfJsonItems, PageRange } from "@pragma/runtime/http/page-response";
import type { CompressingObjectStore } from "@pragma/runtime/object-store/object-store";
import { computeReportOrOrderEntityTag } from "../entity-tags.ts";
import { type PackedReference, readPackedBodies } from "../packing/packed-reader.ts";
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

/** Where reports and orders are read: a connection pool, and the object store with packed tills. */
export interface ReportAndOrderStores {
  sql: SqlClient;
  objects: Pick<CompressingObjectStore, "getStoredRange">;
}

const earliestDay = "0001-01-01";
const latestDay = "9999-12-31";

/**
 * Returns one page of a location's reports or orders, newest first, as the JSON texts in the column `body`.
 *
 * The total and the day at which a page starts are computed from `day_counts`, so that an offset skips index entries of
 * only one day. A list of one report's orders does not use `day_counts`, because an offset in this list skips only
 * index entries of that report. Packed texts are read from the object store.
 */
export async function findReportOrOrderListPage(
  { sql, objects }: ReportAndOrderStores,
  filter: ReportOrOrderFilter,
  { after, offset, limit, body, maxBytes }: ReportOrOrderPageRange,
): Promise<PageOfJsonItems<ReportOrOrderPosition>> {
  const { locationId, kind, reportId } = filter;
  const isByOffset = !after && offset > 0;
  const { stored, packed } = listSources(sql, filter, body);
  const isAfter = after
    ? sql`and day <= ${after.day}::date
        and (day, at, id) < (${after.day}::date, ${after.at}::timestamptz, ${after.id}::uuid)`
    : isByOffset
      ? sql`and day <= (select day from first)
          and (day, at, id) <= ((select day from first), (select at from first), (select id from first))`
      : sql``;
  const newestFirst = sql`order by day desc, at desc, id desc limit ${limit + 1}`;
  const page = packed
    ? sql`select * from (
        (select * from ${stored} ${isAfter} ${newestFirst}) union all (select * from ${packed} ${isAfter} ${newestFirst})
      ) as both_sources ${newestFirst}`
    : sql`select * from ${stored} ${isAfter} ${newestFirst}`;
  // Reads raw bytes, because the stored texts are sent unchanged. Decoding 100 bodies would take most of the time.
  const result: unknown = await sql`
    with ${isByOffset ? sql`first as (${positionAtOffset(sql, filter, offset)}),` : sql``} page as (${page}),
    measured as (
      select *, row_number() over newest_first as number, sum(bytes) over newest_first as total_bytes
      from page window newest_first as (order by day desc, at desc, id desc rows unbounded preceding)
    ), list as (
      select (select count(*) from page) as row_count, ${
        reportId === null
          ? sql`(select coalesce(sum(count), 0) from day_counts where ${isCounted(sql, filter)})`
          : sql`(select count(*) from ${stored}) ${packed ? sql`+ (select count(*) from ${packed})` : sql``}`
      } as total
    )
    select body, id, day::text, to_json(at at time zone 'utc')#>>'{}' || 'Z', row_count, total,
      object_key, to_json(block_ends), to_json(block_first_positions), position
    from list left join measured on number = 1 or (number <= ${limit} and total_bytes <= ${maxBytes})
    left join packed_tills on location_id = ${locationId} and packed_tills.till_id = packed_till_id
    order by number`.raw();
  const rows = result as [ReportOrOrderPageRow, ...ReportOrOrderPageRow[]];
  const [[, , , , rowCount, total]] = rows;
  const items = await readMissingBodies(
    objects,
    rows.flatMap(([body, id, , , , , ...place]) => (id ? [body ?? toPackedReference(place)] : [])),
    kind === "report" ? "v0" : body,
  );
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
  ...PackedPlace,
];

/** Where a packed text is. All are null if the text is not packed, and `position` is null for a report. */
type PackedPlace = [
  objectKey: Buffer | null,
  blockEnds: Buffer | null,
  blockFirstPositions: Buffer | null,
  position: Buffer | null,
];

function toPackedReference([objectKey, blockEnds, blockFirstPositions, position]: PackedPlace): PackedReference {
  if (!objectKey) throw new Error("A stored report or order has no body.");
  return {
    till: {
      objectKey: String(objectKey),
      blockEnds: JSON.parse(String(blockEnds)),
      blockFirstPositions: JSON.parse(String(blockFirstPositions)),
    },
    position: position && Number(position),
  };
}

/** Replaces references by the packed texts. `body` is the name of the response that is read. */
async function readMissingBodies(
  objects: ReportAndOrderStores["objects"],
  bodies: (Buffer | PackedReference)[],
  body: string,
): Promise<Buffer[]> {
  const references = bodies.filter((item): item is PackedReference => !Buffer.isBuffer(item));
  const texts = (references.length === 0 ? [] : await readPackedBodies(objects, references, body)).values();
  return bodies.map((item) => (Buffer.isBuffer(item) ? item : (texts.next().value as Buffer)));
}

function isCounted(sql: SqlClient, { locationId, kind, since, until }: ReportOrOrderFilter) {
  return sql`location_id = ${locationId} and kind = ${kind}
    and day between ${since ?? earliestDay}::date and ${until ?? latestDay}::date`;
}

/**
 * Returns the rows of a list as SQL that ends in a condition. `stored` reads the rows in PostgreSQL, and `packed` reads
 * the rows of packed orders. A packed report has a row in `reports`, so its list has no other rows.
 */
function listSources(sql: SqlClient, { locationId, kind, since, until, reportId }: ReportOrOrderFilter, body: string) {
  const isInDays = sql`day between ${since ?? earliestDay}::date and ${until ?? latestDay}::date`;
  if (kind === "report") {
    const stored = sql`(
      select day, started_at as at, id, ${sql(body)} as body, coalesce(octet_length(${sql(body)}), packed_v0_bytes) as bytes,
        case when v2 is null then till_id end as packed_till_id, null::int as position
      from reports where location_id = ${locationId}
    ) as record where ${isInDays}`;
    return { stored, packed: null };
  }
  const isOfReport =
    reportId === null
      ? sql``
      : sql`and till_id = (select till_id from reports where location_id = ${locationId} and id = ${reportId})`;
  return {
    stored: sql`(
      select day, opened_at as at, id, ${sql(body)} as body, octet_length(${sql(body)}) as bytes,
        null::uuid as packed_till_id, null::int as position
      from orders
      where location_id = ${locationId} and is_current ${reportId === null ? sql`` : sql`and report_id = ${reportId}`}
    ) as record where ${isInDays}`,
    packed: sql`(
      select day, at, id, null::text as body, v1_size as bytes, till_id as packed_till_id,
        first_position + number::int - 1 as position
      from packed_orders, unnest(ids, opened_at, v1_bytes) with ordinality as packed (id, at, v1_size, number)
      where location_id = ${locationId} and is_current ${isOfReport}
    ) as record where ${isInDays}`,
  };
}

/**
 * Returns the response body of a report or order from the column `body`, or from its packed till. If `locationId` is
 * null, searches all locations. If several locations have an order with this id, returns the order that was pushed last.
 */
export async function findReportOrOrderBody(
  { sql, objects }: ReportAndOrderStores,
  { kind, id, locationId, body }: { kind: ReportOrOrderKind; id: string; locationId: string | null; body: string },
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  const find = kind === "report" ? selectReport : selectOrder;
  const [row]: unknown[] = await find(sql, { id, locationId, body }).raw();
  if (!row) return undefined;
  const [storedTag, contentVersion, text, deflated, v1, ...place] = row as ReportOrOrderBodyRow;
  const etag = storedTag ?? computeReportOrOrderEntityTag(String(contentVersion), id.toLowerCase());
  if (deflated && v1) return { body: await decompressV2Order(decodeRawBytea(deflated), { v1 }), etag: String(etag) };
  if (text) return { body: text, etag: String(etag) };
  const [packed] = await readPackedBodies(objects, [toPackedReference(place)], body);
  return packed && { body: packed, etag: String(etag) };
}

/** `v1` is null unless `deflated` was compressed with it. */
type ReportOrOrderBodyRow = [
  /** Null if the tag is computed from the content version. */
  etag: Buffer | null,
  contentVersion: Buffer | null,
  text: Buffer | null,
  deflated: Buffer | null,
  v1: Buffer | null,
  ...PackedPlace,
];

interface RequestedBody {
  id: string;
  locationId: string | null;
  body: string;
}

function selectReport(sql: SqlClient, { id, locationId, body }: RequestedBody) {
  return sql`
    select etag, null, ${sql(body)}, null, null, object_key, to_json(block_ends), to_json(block_first_positions), null
    from reports left join packed_tills
      on v2 is null and packed_tills.location_id = reports.location_id and packed_tills.till_id = reports.till_id
    where id = ${id} ${locationId === null ? sql`` : sql`and reports.location_id = ${locationId}`}`;
}

/** One statement, so that an order is found although it is packed or unpacked at the same time. */
function selectOrder(sql: SqlClient, { id, locationId, body }: RequestedBody) {
  const isOfLocation = locationId === null ? sql`` : sql`and location_id = ${locationId}`;
  const deflated = body === "v2" ? sql`v2_deflated, v1` : sql`null::bytea, null::text`;
  return sql`
    select etag, null as content_version, ${sql(body)}, ${deflated}, null as object_key, null::json, null::json, null::int, pushed_at
    from orders where id = ${id} and is_current ${isOfLocation}
    union all
    select etags[number], content_version, null, null, null, object_key, to_json(block_ends), to_json(block_first_positions),
      first_position + number - 1, pushed_at
    from packed_orders join packed_tills using (location_id, till_id), array_position(ids, ${id}::uuid) as number
    where ids @> array[${id}::uuid] and is_current ${isOfLocation}
    ${locationId === null ? sql`order by pushed_at desc` : sql``} limit 1`;
}

/** Decodes the text in which PostgreSQL sends a bytea: `\x` and two hexadecimal digits per byte. */
function decodeRawBytea(text: Buffer): Buffer {
  return Buffer.from(text.toString("latin1", 2), "hex");
}

/** Selects the position of the item at an offset in the list. */
function positionAtOffset(sql: SqlClient, filter: ReportOrOrderFilter, offset: number) {
  const { stored, packed } = listSources(sql, filter, "etag");
  /** Selects the position after `skip` others. Each source is read in its own order, and only as far as necessary. */
  const positionAfter = (skip: SqlFragment, condition: SqlFragment, order: SqlFragment) => {
    const readSource = (source: SqlFragment) => sql`
      (select day, at, id from ${source} ${condition} order by ${order} limit ${skip} + 1)`;
    const sources = packed ? sql`${readSource(stored)} union all ${readSource(packed)}` : readSource(stored);
    return sql`(select day, at, id from (${sources}) as positions order by ${order} offset ${skip} limit 1)`;
  };
  const newestFirst = sql`day desc, at desc, id desc`;
  if (filter.reportId !== null) return positionAfter(sql`${offset}::bigint`, sql``, newestFirst);
  // Counts from the start or the end of the day, whichever is nearer, to skip fewer index entries.
  const fromStart = sql`(select skip from first_day)`;
  const fromEnd = sql`(select count - skip - 1 from first_day)`;
  return sql`
    with first_day as (
      select day, count, ${offset} - (up_to - count) as skip
      from (
        select day, count, sum(count) over (order by day desc) as up_to from day_counts where ${isCounted(sql, filter)}
      ) as counted
      where up_to > ${offset} order by day desc limit 1
    )
    ${positionAfter(fromStart, sql`and day = (select day from first_day where skip * 2 <= count)`, newestFirst)}
    union all
    ${positionAfter(fromEnd, sql`and day = (select day from first_day where skip * 2 > count)`, sql`day, at, id`)}`;
}
