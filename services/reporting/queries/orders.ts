import { type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { toV2OrderColumns } from "../v2-order-compression.ts";
import type { TillKey } from "./tills.ts";

export interface ReportingOrderDatabaseRow {
  id: string;
  reportId: string;
  day: string;
  openedAt: string;
  createdAt: string;
  updatedAt: string;
  pushedAt: string | Date;
  etag: string;
  v1: string;
  v2: string;
}

interface LocationOrderIds {
  locationId: string;
  ids: string[];
}

export async function findOrderIdsOfTill(tx: SqlTransaction, { locationId, tillId }: TillKey): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from orders where location_id = ${locationId} and till_id = ${tillId}
    union all
    select unnest(ids) from packed_orders where location_id = ${locationId} and till_id = ${tillId}`;
  return rows.map(({ id }) => id);
}

export async function findCurrentOrderIdsOfTill(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from orders where location_id = ${locationId} and till_id = ${tillId} and is_current
    union all
    select unnest(ids) from packed_orders
    where location_id = ${locationId} and till_id = ${tillId} and is_current`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the days of the current orders with these ids. An order that several tills contain is current only in the
 * till that was pushed last, and only this copy is returned to clients.
 */
export async function findDaysOfOrdersByIds(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select day::text as day from orders
    where location_id = ${locationId} and id = any(${ids}::uuid[]) and is_current`;
  return rows.map(({ day }) => day);
}

/** Returns the earliest creation time of each of these orders in any till of the location. */
export async function findOrderCreationTimes(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<Map<string, string>> {
  const rows = await tx<{ id: string; created: Date }[]>`
    select id, min(created_at) as created from orders
    where location_id = ${locationId} and id = any(${ids}::uuid[]) group by id`;
  return new Map(rows.map(({ id, created }) => [id, created.toISOString()]));
}

/**
 * Replaces a till's orders. An order that other tills contain too becomes current only when
 * `markLatestOrderCopiesCurrent` is called.
 */
export async function replaceOrdersOfTill(
  tx: SqlTransaction,
  { tillId, locationId, rows }: TillKey & { rows: ReportingOrderDatabaseRow[] },
  options: OrderStorageOptions,
): Promise<void> {
  await tx`delete from orders where location_id = ${locationId} and till_id = ${tillId}`;
  const ids = rows.map(({ id }) => id);
  const storedIds = new Set(await findStoredOrderIds(tx, { locationId, ids }));
  const stored = rows.map((row) => ({ ...row, tillId, locationId, isCurrent: !storedIds.has(row.id) }));
  await insertOrders(tx, stored, options);
}

/** A row of `orders` with its till. */
interface StoredOrderRow extends ReportingOrderDatabaseRow, TillKey {
  isCurrent: boolean;
}

interface OrderStorageOptions {
  /** Whether V2 responses are stored compressed, which version 1.0 cannot read. */
  isCompressed: boolean;
}

const insertBatchSize = 25;

export async function insertOrders(
  tx: SqlTransaction,
  rows: StoredOrderRow[],
  { isCompressed }: OrderStorageOptions,
): Promise<void> {
  const toColumns = async ({ v2, ...row }: StoredOrderRow) => ({
    ...row,
    ...(await toV2OrderColumns(v2, { v1: row.v1, isCompressed })),
  });
  // Passes rows of values instead of one JSON parameter, which would be larger, because it escapes every quote in the
  // JSON texts. Batches are small, because compressing and serializing a large batch blocks the event loop.
  const toBatch = (start: number) => Promise.all(rows.slice(start, start + insertBatchSize).map(toColumns));
  let batch = await toBatch(0);
  for (let start = insertBatchSize; batch.length > 0; start += insertBatchSize) {
    // PostgreSQL inserts one batch while the next one is compressed.
    const inserted = tx`insert into orders ${tx(batch)}`.execute();
    [batch] = await Promise.all([toBatch(start), inserted]);
  }
}

interface OrderToPack extends Pick<StoredOrderRow, "id" | "day" | "openedAt" | "isCurrent" | "etag" | "v1"> {
  /** The V2 response is in one of these columns, and the other is null. `v2Deflated` is from `compressV2Order`. */
  v2: string | null;
  v2Deflated: Uint8Array | null;
}

/** Yields the orders of a till in batches, sorted by day, by whether they are current, by opening time and by id. */
export function readStoredOrders(tx: SqlTransaction, { locationId, tillId }: TillKey): AsyncIterable<OrderToPack[]> {
  return tx<OrderToPack[]>`
    select id, day::text as day, opened_at::text as opened_at, is_current, etag, v1, v2, v2_deflated from orders
    where location_id = ${locationId} and till_id = ${tillId}
    order by day, is_current, orders.opened_at, id`.cursor(insertBatchSize);
}

/** Returns what differs when an order of a till was replaced, or became current or not current. */
export async function listStoredOrderVersions(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<{ id: string; isCurrent: boolean; etag: string }[]> {
  return tx`select id, is_current, etag from orders where location_id = ${locationId} and till_id = ${tillId}`;
}

/** Returns the given ids for which the location has a stored order. */
async function findStoredOrderIds(tx: SqlTransaction, { locationId, ids }: LocationOrderIds): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select distinct id from orders where location_id = ${locationId} and id = any(${ids}::uuid[])`;
  return rows.map(({ id }) => id);
}

/** Makes each order current in only one till: of the tills that contain the order, the till that was pushed last. */
export async function markLatestOrderCopiesCurrent(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<void> {
  const sharedOrders = await tx<{ id: string; owner: string }[]>`
    select id, (array_agg(till_id order by pushed_at desc, till_id desc))[1] as owner
    from orders where location_id = ${locationId} and id = any(${ids}::uuid[])
    group by id having count(*) > 1 or not bool_or(is_current)`;
  if (sharedOrders.length === 0) return;
  const sharedIds = sharedOrders.map(({ id }) => id);
  // Uses two statements, because PostgreSQL checks the unique index on current orders after each row. A single
  // statement could fail, because it could make a row current before it resets the previous current row.
  await tx`
    update orders set is_current = false
    where location_id = ${locationId} and id = any(${sharedIds}::uuid[]) and is_current`;
  await tx`
    update orders set is_current = true
    from jsonb_to_recordset(${toRecordsetParameter(tx, sharedOrders)}) as owned (id uuid, owner uuid)
    where orders.location_id = ${locationId} and orders.id = owned.id and orders.till_id = owned.owner`;
}
