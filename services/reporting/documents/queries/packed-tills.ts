import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillKey } from "./tills.ts";

/** Where the texts of a packed till are in the object store. */
export interface PackedTillIndex {
  objectKey: string;
  /** The offsets in the object at which blocks end. The first block is the report. */
  blockEnds: number[];
  /** The positions of the first order of each block. 0 for the block of the report. */
  blockFirstPositions: number[];
  /** The number of bytes of each block from which its V1 orders can be decompressed. 0 for the block of the report. */
  blockV1Ends: number[];
}

/** Returns the number of the block with the order at a position; the first block, with the report, for null. */
export function findBlock({ blockFirstPositions }: PackedTillIndex, position: number | null): number {
  return position === null ? 0 : blockFirstPositions.findLastIndex((first) => first <= position);
}

export interface PackedTillRow extends TillKey, PackedTillIndex {
  pushedAt: Date;
  /** SHA-256 of the object, in hexadecimal. */
  hash: string;
  /** Entity tags of orders are computed from it. Null if they are stored. */
  contentVersion: string | null;
}

/** The orders of a packed till that were opened on the same day. The arrays have one element for each order. */
export interface PackedOrdersRow {
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  isCurrent: boolean;
  /** The position of the first of these orders in the object. */
  firstPosition: number;
  ids: string[];
  /** RFC 3339, with microseconds. */
  openedAt: string[];
  v1Bytes: number[];
  /** Null if they are computed from the content version of the till. */
  etags: string[] | null;
}

/** Selects the `PackedTillIndex` of a packed till as JSON; null if the row has no packed till. */
export const packedTillIndexColumn = `
  case when object_key is not null then json_build_object('objectKey', object_key, 'blockEnds', block_ends,
    'blockFirstPositions', block_first_positions, 'blockV1Ends', block_v1_ends) end`;
export const packedTillIndex = (sql: SqlClient) => sql.unsafe(packedTillIndexColumn) as unknown as SqlFragment;

const packedTillColumns = (sql: SqlClient | SqlTransaction) => sql`
  location_id, till_id, object_key, hash, pushed_at, content_version, block_ends, block_first_positions,
  block_v1_ends, lost_at is not null as is_lost`;

/** Returns a till that is packed, or that was packed and is lost (`markPackedTillLost`). */
export async function findPackedTill(
  sql: SqlClient | SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<(PackedTillRow & { isLost: boolean }) | undefined> {
  const [row] = await sql<(PackedTillRow & { isLost: boolean })[]>`
    select ${packedTillColumns(sql)} from packed_tills where location_id = ${locationId} and till_id = ${tillId}`;
  return row;
}

/** Returns packed and lost tills of a partition, sorted by location and till. */
export async function listPackedTillsAfter(
  sql: SqlClient,
  partition: string,
  { after, limit }: { after: TillKey | undefined; limit: number },
): Promise<(PackedTillRow & { isLost: boolean })[]> {
  return sql`
    select ${packedTillColumns(sql)} from ${sql(partition)}
    ${after ? sql`where (location_id, till_id) > (${after.locationId}::uuid, ${after.tillId}::uuid)` : sql``}
    order by location_id, till_id limit ${limit}`;
}

/** Returns the number of lost tills of all locations. Reads one partition at a time. */
export async function countLostPackedTills(sql: SqlClient): Promise<number> {
  let count = 0;
  for (const partition of await listPartitionNames(sql, "packed_tills")) {
    const [row] = await sql<[{ count: number }]>`
      select count(*) from ${sql(partition)} where lost_at is not null`;
    count += row.count;
  }
  return count;
}

export async function listPackedOrders(
  sql: SqlClient | SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<PackedOrdersRow[]> {
  return sql<PackedOrdersRow[]>`
    select day::text as day, is_current, first_position, ids, opened_at::text[] as opened_at, v1_bytes, etags
    from packed_orders where location_id = ${locationId} and till_id = ${tillId} order by first_position`;
}

/** Returns those of the location's packed tills that are this till, or that contain one of these orders (`uuid[]`). */
export async function findPackedTillIds(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
  orderIds: SqlFragment,
): Promise<string[]> {
  const rows = await tx<{ tillId: string }[]>`
    select till_id from packed_tills where location_id = ${locationId} and till_id = ${tillId} and lost_at is null
    union select till_id from packed_orders where location_id = ${locationId} and ids && (${orderIds})`;
  return rows.map(({ tillId }) => tillId);
}

/** Stores where a till is packed, empties its report, and deletes its orders. The caller must lock the location first. */
export async function replaceTillByPackedTill(
  tx: SqlTransaction,
  { locationId, tillId, pushedAt, objectKey, hash, contentVersion, ...index }: PackedTillRow,
  { orders, finalized }: { orders: PackedOrdersRow[]; finalized: string },
): Promise<void> {
  const isOfTill = tx`location_id = ${locationId} and till_id = ${tillId}`;
  await tx`
    insert into packed_tills (location_id, till_id, object_key, hash, pushed_at, content_version,
      block_ends, block_first_positions, block_v1_ends)
    values (${locationId}, ${tillId}, ${objectKey}, ${hash}, ${pushedAt}, ${contentVersion},
      ${index.blockEnds}::int[], ${index.blockFirstPositions}::int[], ${index.blockV1Ends}::int[])`;
  for (const { day, isCurrent, firstPosition, ids, openedAt, v1Bytes, etags } of orders) {
    await tx`
      insert into packed_orders
        (location_id, till_id, day, is_current, first_position, ids, opened_at, v1_bytes, etags)
      values (${locationId}, ${tillId}, ${day}, ${isCurrent}, ${firstPosition}, ${ids}::uuid[],
        ${openedAt}::timestamptz[], ${v1Bytes}::int[], ${etags}::text[])`;
  }
  const latestDay = orders
    .map(({ day }) => day)
    .toSorted()
    .at(-1);
  if (latestDay !== undefined)
    await tx`
      insert into packed_days (location_id, latest_day) values (${locationId}, ${latestDay}::text::date)
      on conflict (location_id) do update set latest_day = greatest(packed_days.latest_day, excluded.latest_day)`;
  await tx`
    update reports set packed_v0_bytes = octet_length(v0), v2 = null, v0 = null, accounting_data = null,
      finalized = ${finalized}
    where ${isOfTill}`;
  await tx`delete from orders where ${isOfTill}`;
}

/**
 * Records that the object of a packed till cannot be read, and that its orders are rows without texts. The till counts as
 * lost until `deletePackedTill`.
 */
export async function markPackedTillLost(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
  { orderIds }: { orderIds: string[] },
): Promise<void> {
  const isOfTill = tx`location_id = ${locationId} and till_id = ${tillId}`;
  await tx`delete from packed_orders where ${isOfTill}`;
  await tx`update packed_tills set lost_at = now() where ${isOfTill}`;
  await tx`
    update reports
    set finalized = jsonb_set(finalized::jsonb, '{orderIds}', to_jsonb(${orderIds}::uuid[]))::text
    where ${isOfTill}`;
}

/** Deletes the rows of a packed till, and schedules the deletion of its object in a day. Until then, it can be read. */
export async function deletePackedTill(tx: SqlTransaction, { locationId, tillId, objectKey }: PackedTillRow) {
  await tx`delete from packed_orders where location_id = ${locationId} and till_id = ${tillId}`;
  await tx`delete from packed_tills where location_id = ${locationId} and till_id = ${tillId}`;
  await tx`
    insert into unused_objects (location_id, object_key, delete_after)
    values (${locationId}, ${objectKey}, now() + interval '1 day')`;
}
