import type { SqlClient, SqlFragment } from "@pragma/runtime/database/postgres";
import { computeDocumentTag } from "../entity-tags.ts";
import { type PackedReferenceColumns, parsePackedReference, readPackedBody } from "../packing/packed-reader.ts";
import { decompressV2Order, isTooLargeV2OrderError } from "../v2-order-compression.ts";
import type { DocumentKind } from "./day-counts.ts";
import type { DocumentStores } from "./document-pages.ts";
import { packedTillIndex } from "./packed-tills.ts";

interface RequestedBody {
  kind: DocumentKind;
  id: string;
  /** Null searches all locations. */
  locationId: string | null;
  /** The column with the response bodies of the requested API version. */
  body: string;
  /** The maximum size, in bytes. A larger body is not read. */
  maxBytes: number;
}

/** The body of a report or order, or null if it is larger than the requested maximum. */
export type FoundDocumentBody =
  | { etag: string; body: Uint8Array; omittedBytes?: undefined }
  | { etag: string; body: null; omittedBytes: number };

/**
 * Returns the response body of a report or order from the column `body`, or from its packed till. If several locations
 * have an order with this id, returns the order that was pushed last.
 */
export async function findDocumentBody(
  stores: DocumentStores,
  requested: RequestedBody,
): Promise<FoundDocumentBody | undefined> {
  if (requested.kind === "report") return readBody(stores, requested, selectReport(stores.sql, requested));
  // Most orders are not packed. In another location, a packed copy of the order may have been pushed later.
  const stored =
    requested.locationId === null
      ? undefined
      : await readBody(stores, requested, selectOrder(stores.sql, requested, { withPacked: false }));
  return stored ?? readBody(stores, requested, selectOrder(stores.sql, requested, { withPacked: true }));
}

/** The texts are null if one of them is larger than the requested maximum. */
type BodyColumns = [
  /** Empty for an order of a lost till; null for a V2 order, which is in `deflated`. */
  text: Buffer | null,
  deflated: Buffer | null,
  /** The response with which `deflated` was compressed; null for other bodies. */
  v1: Buffer | null,
  /** The size of the largest of these columns; null if there is none. */
  bytes: Buffer | null,
];

async function toFoundBody(
  etag: string,
  [text, deflated, v1, bytes]: BodyColumns,
  { maxBytes }: Pick<RequestedBody, "maxBytes">,
): Promise<FoundDocumentBody | undefined> {
  if (text?.length) return { etag, body: text };
  // The texts of an order of a lost till are empty.
  if (bytes === null || text) return undefined;
  if (!deflated || !v1) return { etag, body: null, omittedBytes: Number(bytes) };
  try {
    // PostgreSQL sends a bytea as `\x` and two hexadecimal digits per byte.
    const compressed = Buffer.from(deflated.toString("latin1", 2), "hex");
    return { etag, body: await decompressV2Order(compressed, { v1, maxBytes }) };
  } catch (error) {
    if (!isTooLargeV2OrderError(error)) throw error;
    return { etag, body: null, omittedBytes: maxBytes + 1 };
  }
}

/** Selects `BodyColumns`. The sizes are read without the texts, so that they need hardly any time. */
function selectBodyColumns(sql: SqlClient, { kind, body, maxBytes }: RequestedBody) {
  if (kind === "order" && body === "v2")
    return sql`
      case when v1 = '' then '' end,
      case when octet_length(v1) <= ${maxBytes}::int and octet_length(v2_deflated) <= ${maxBytes}::int
        then v2_deflated end,
      case when octet_length(v1) <= ${maxBytes}::int and octet_length(v2_deflated) <= ${maxBytes}::int then v1 end,
      greatest(octet_length(v1), octet_length(v2_deflated))`;
  const column = sql(body);
  return sql`case when octet_length(${column}) <= ${maxBytes}::int then ${column} end, null::bytea, null::text,
    octet_length(${column})`;
}

/** Returns the body in the first row of a statement, or in the packed till to which the row refers. */
async function readBody(
  { objects }: DocumentStores,
  requested: RequestedBody,
  statement: SqlFragment,
): Promise<FoundDocumentBody | undefined> {
  const [row]: unknown[] = await statement.raw();
  if (!row) return undefined;
  const [storedTag, contentVersion, text, deflated, v1, bytes, ...reference] = row as DocumentBodyRow;
  const etag = String(storedTag ?? computeDocumentTag(String(contentVersion), requested.id.toLowerCase()));
  const [packedTill] = reference;
  const stored = packedTill ? undefined : await toFoundBody(etag, [text, deflated, v1, bytes], requested);
  if (stored) return stored;
  if (Number(bytes) > requested.maxBytes) return { etag, body: null, omittedBytes: Number(bytes) };
  const read = await readPackedBody(objects, parsePackedReference(reference), requested);
  return typeof read === "number" ? { etag, body: null, omittedBytes: read } : { etag, body: read };
}

/** For a packed order, `bytes` is the size of its V1 response, because that of its V2 response is only in its block. */
type DocumentBodyRow = [etag: Buffer | null, contentVersion: Buffer | null, ...BodyColumns, ...PackedReferenceColumns];

function selectReport(sql: SqlClient, requested: RequestedBody) {
  const { id, locationId } = requested;
  return sql`
    select etag, null as content_version, ${selectBodyColumns(sql, requested)}, ${packedTillIndex(sql)}, null
    from reports left join packed_tills
      on v2 is null and packed_tills.location_id = reports.location_id and packed_tills.till_id = reports.till_id
    where id = ${id} ${locationId === null ? sql`` : sql`and reports.location_id = ${locationId}`}`;
}

/** Also selects the rows that are not packed, because the till may have been unpacked since. */
function selectOrder(sql: SqlClient, requested: RequestedBody, { withPacked }: { withPacked: boolean }) {
  const { id, locationId } = requested;
  const isOfLocation = locationId === null ? sql`` : sql`and location_id = ${locationId}`;
  const stored = sql`
    select etag, null as content_version, ${selectBodyColumns(sql, requested)}, null::json, null::int, pushed_at
    from orders where id = ${id} and is_current ${isOfLocation}`;
  if (!withPacked) return stored;
  return sql`
    ${stored}
    union all
    select etags[number], content_version, null, null, null, v1_bytes[number], ${packedTillIndex(sql)},
      first_position + number - 1, pushed_at
    from packed_orders join packed_tills using (location_id, till_id), array_position(ids, ${id}::uuid) as number
    where ids @> array[${id}::uuid] and is_current ${isOfLocation}
    order by pushed_at desc limit 1`;
}
