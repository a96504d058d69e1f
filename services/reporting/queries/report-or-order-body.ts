import type { SqlClient } from "@pragma/runtime/database/postgres";
import { computeReportOrOrderEntityTag } from "../entity-tags.ts";
import { readPackedBodies } from "../packing/packed-reader.ts";
import { decompressV2Order } from "../v2-order-compression.ts";
import type { ReportOrOrderKind } from "./day-counts.ts";
import { type PackedPlace, type ReportAndOrderStores, toPackedReference } from "./packed-places.ts";

interface RequestedBody {
  kind: ReportOrOrderKind;
  id: string;
  /** Null searches all locations. */
  locationId: string | null;
  /** The column with the response bodies of the requested API version. */
  body: string;
}

/**
 * Returns the response body of a report or order from the column `body`, or from its packed till. If several locations
 * have an order with this id, returns the order that was pushed last.
 */
export async function findReportOrOrderBody(
  { sql, objects }: ReportAndOrderStores,
  requested: RequestedBody,
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  // In another location, a packed copy of the order may have been pushed later.
  if (requested.kind === "order" && requested.locationId === null) return findPackedBody({ sql, objects }, requested);
  const [stored]: unknown[] = await selectStoredBody(sql, requested).raw();
  const [etag, text, deflated, v1] = (stored ?? []) as Partial<StoredBodyRow>;
  if (deflated && v1) return { body: await decompressV2Order(decodeRawBytea(deflated), { v1 }), etag: String(etag) };
  if (text?.length) return { body: text, etag: String(etag) };
  if (requested.kind === "report" && !stored) return undefined;
  return findPackedBody({ sql, objects }, requested);
}

/** `v1` is null unless `deflated` was compressed with it. */
type StoredBodyRow = [etag: Buffer, text: Buffer | null, deflated: Buffer | null, v1: Buffer | null];

function selectStoredBody(sql: SqlClient, { kind, id, locationId, body }: RequestedBody) {
  const isRequested = sql`id = ${id} ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}`;
  const source =
    kind === "report"
      ? sql`reports where ${isRequested}`
      : sql`orders where ${isRequested} and is_current order by pushed_at desc limit 1`;
  const compressed = kind === "order" && body === "v2" ? sql`v2_deflated, v1` : sql`null, null`;
  return sql`select etag, ${sql(body)}, ${compressed} from ${source}`;
}

/**
 * Returns a body that was not found without packed tills. The statement also reads the rows that are not packed, because
 * the till may have been unpacked since.
 */
async function findPackedBody(
  { sql, objects }: ReportAndOrderStores,
  requested: RequestedBody,
): Promise<{ body: Uint8Array; etag: string } | undefined> {
  const select = requested.kind === "report" ? selectPackedOrStoredReport : selectPackedOrStoredOrder;
  const [row]: unknown[] = await select(sql, requested).raw();
  if (!row) return undefined;
  const [storedTag, contentVersion, text, deflated, v1, ...place] = row as PackedOrStoredBodyRow;
  const tag = storedTag ?? computeReportOrOrderEntityTag(String(contentVersion), requested.id.toLowerCase());
  const etag = String(tag);
  if (deflated && v1) return { body: await decompressV2Order(decodeRawBytea(deflated), { v1 }), etag };
  if (text?.length) return { body: text, etag };
  const [body] = await readPackedBodies(objects, [toPackedReference(place)], requested.body);
  return body && { body, etag };
}

type PackedOrStoredBodyRow = [
  /** Null if the tag is computed from the content version. */
  etag: Buffer | null,
  contentVersion: Buffer | null,
  text: Buffer | null,
  deflated: Buffer | null,
  v1: Buffer | null,
  ...PackedPlace,
];

function selectPackedOrStoredReport(sql: SqlClient, { id, locationId, body }: RequestedBody) {
  return sql`
    select etag, null as content_version, ${sql(body)}, null, null, object_key, to_json(block_ends),
      to_json(block_first_positions), null
    from reports left join packed_tills
      on v2 is null and packed_tills.location_id = reports.location_id and packed_tills.till_id = reports.till_id
    where id = ${id} ${locationId === null ? sql`` : sql`and reports.location_id = ${locationId}`}`;
}

function selectPackedOrStoredOrder(sql: SqlClient, { id, locationId, body }: RequestedBody) {
  const isOfLocation = locationId === null ? sql`` : sql`and location_id = ${locationId}`;
  const compressed = body === "v2" ? sql`v2_deflated, v1` : sql`null::bytea, null::text`;
  return sql`
    select etag, null as content_version, ${sql(body)}, ${compressed}, null as object_key, null::json, null::json,
      null::int, pushed_at
    from orders where id = ${id} and is_current ${isOfLocation}
    union all
    select etags[number], content_version, null, null, null, object_key, to_json(block_ends),
      to_json(block_first_positions), first_position + number - 1, pushed_at
    from packed_orders join packed_tills using (location_id, till_id), array_position(ids, ${id}::uuid) as number
    where ids @> array[${id}::uuid] and is_current ${isOfLocation}
    order by pushed_at desc limit 1`;
}

/** Decodes the text in which PostgreSQL sends a bytea: `\x` and two hexadecimal digits per byte. */
function decodeRawBytea(text: Buffer): Buffer {
  return Buffer.from(text.toString("latin1", 2), "hex");
}
