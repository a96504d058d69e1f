import { computeDocumentTag } from "../entity-tags.ts";
import { type PackedReferenceColumns, parsePackedReference, readPackedBody } from "../packing/packed-reader.ts";
import { decompressV2Order, isTooLargeV2OrderError } from "../v2-order-compression.ts";
import type { DocumentKind } from "./day-counts.ts";
import type { DocumentStores } from "./document-pages.ts";
import { packedTillIndexColumn } from "./packed-tills.ts";

interface RequestedBody {
  kind: DocumentKind;
  id: string;
  /** Null searches all locations. */
  locationId: string | null;
  /** The till whose copy of an order of this location is read. By default, the current copy is. */
  tillId?: string;
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
  if (requested.kind === "report") return readBody(stores, requested, "report");
  // Most orders are not packed. In another location, a packed copy of the order may have been pushed later.
  const stored = requested.locationId === null ? undefined : await readBody(stores, requested, "order");
  return stored ?? readBody(stores, requested, "order or packed order");
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
function selectBodyColumns({ kind, body }: RequestedBody): string {
  if (kind === "order" && body === "v2")
    return `
      case when v1 = '' then '' end,
      case when octet_length(v1) <= $1::int and octet_length(v2_deflated) <= $1::int then v2_deflated end,
      case when octet_length(v1) <= $1::int and octet_length(v2_deflated) <= $1::int then v1 end,
      greatest(octet_length(v1), octet_length(v2_deflated))`;
  return `case when octet_length(${body}) <= $1::int then ${body} end, null::bytea, null::text, octet_length(${body})`;
}

/** Returns the body in the first row of a statement, or in the packed till to which the row refers. */
async function readBody(
  { sql, objects }: DocumentStores,
  requested: RequestedBody,
  source: BodySource,
): Promise<FoundDocumentBody | undefined> {
  const { maxBytes, id, locationId, tillId } = requested;
  const parameters = [maxBytes, id, ...[locationId, tillId].filter((each) => typeof each === "string")];
  const [row]: unknown[] = await sql.unsafe(toStatement(requested, source), parameters, { prepare: true }).raw();
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

/** Where a body is searched. */
type BodySource = "report" | "order" | "order or packed order";

/** By source, column and whether the location is known, because building a text for each request takes as long as sending it. */
const statements = new Map<string, string>();

function toStatement(requested: RequestedBody, source: BodySource): string {
  const name = `${source} ${requested.body} ${requested.locationId !== null} ${requested.tillId !== undefined}`;
  const statement =
    statements.get(name) ?? (source === "report" ? selectReport(requested) : selectOrder(requested, source));
  statements.set(name, statement);
  return statement;
}

function selectReport(requested: RequestedBody): string {
  return `
    select etag, null as content_version, ${selectBodyColumns(requested)}, ${packedTillIndexColumn}, null
    from reports left join packed_tills
      on v2 is null and packed_tills.location_id = reports.location_id and packed_tills.till_id = reports.till_id
    where id = $2 ${requested.locationId === null ? "" : "and reports.location_id = $3"}`;
}

/** Also selects the rows that are not packed, because the till may have been unpacked since. */
function selectOrder(requested: RequestedBody, source: BodySource): string {
  const isOfLocation = requested.locationId === null ? "" : "and location_id = $3";
  const isRequestedCopy = requested.tillId === undefined ? "is_current" : "till_id = $4";
  const stored = `
    select etag, null as content_version, ${selectBodyColumns(requested)}, null::json, null::int, pushed_at
    from orders where id = $2 and ${isRequestedCopy} ${isOfLocation}`;
  if (source === "order") return stored;
  return `
    ${stored}
    union all
    select etags[number], content_version, null, null, null, v1_bytes[number], ${packedTillIndexColumn},
      first_position + number - 1, pushed_at
    from packed_orders join packed_tills using (location_id, till_id), array_position(ids, $2::uuid) as number
    where ids @> array[$2::uuid] and ${isRequestedCopy} ${isOfLocation}
    order by pushed_at desc limit 1`;
}
