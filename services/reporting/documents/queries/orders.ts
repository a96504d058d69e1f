import { type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { TillKey } from "./tills.ts";

export interface OrderRow {
  id: string;
  reportId: string;
  day: string;
  openedAt: string;
  createdAt: string;
  updatedAt: string;
  pushedAt: string | Date;
  etag: string;
  v1: string;
  v2Deflated: Uint8Array;
}

/** Returns the ids of a till's orders, or only of those that are current. */
export async function findOrderIdsOfTill(
  tx: SqlTransaction,
  { locationId, tillId }: TillKey,
  { isCurrent = false } = {},
): Promise<string[]> {
  const isSelected = tx`location_id = ${locationId} and till_id = ${tillId} ${isCurrent ? tx`and is_current` : tx``}`;
  const rows = await tx<{ id: string }[]>`
    select id from orders where ${isSelected} union all select unnest(ids) from packed_orders where ${isSelected}`;
  return rows.map(({ id }) => id);
}

/** A copy of an order. An order that several tills contain has a copy in each of them. */
export interface StoredOrderCopy {
  id: string;
  tillId: string;
  /** YYYY-MM-DD in the location's time zone. */
  day: string;
  /** Only the copy in the till that was pushed last is current, and only this copy is returned to clients. */
  isCurrent: boolean;
  createdAt: Date;
}

/** Returns the copies, in all tills of the location, of the orders with these ids and of the till's orders. */
export async function findOrderCopies(
  tx: SqlTransaction,
  { locationId, tillId, ids }: TillKey & { ids: string[] },
): Promise<StoredOrderCopy[]> {
  return tx<StoredOrderCopy[]>`
    select id, till_id, day::text as day, is_current, created_at from orders
    where location_id = ${locationId} and id = any(
      ${ids}::uuid[] || array(select id from orders where location_id = ${locationId} and till_id = ${tillId}))`;
}

interface StoredOrderRow extends OrderRow, TillKey {
  isCurrent: boolean;
}

const insertBatchSize = 25;

export async function insertOrders(
  tx: SqlTransaction,
  rows: AsyncIterable<StoredOrderRow> | Iterable<StoredOrderRow>,
): Promise<void> {
  let previous: Promise<unknown> = Promise.resolve();
  let batch: StoredOrderRow[] = [];
  async function insertBatch(): Promise<void> {
    // Passes rows of values instead of one JSON parameter, which would be larger, because it escapes every quote in the
    // JSON texts. Batches are small, because serializing a large batch blocks the event loop.
    const inserted = tx`insert into orders ${tx(batch)}`.execute();
    batch = [];
    // PostgreSQL inserts one batch while the next one is prepared and serialized. `race` also handles the rejection of
    // both batches: after the first has failed, the second fails as well.
    await Promise.race([previous, inserted]);
    previous = inserted;
  }
  for await (const row of rows) if (batch.push(row) === insertBatchSize) await insertBatch();
  if (batch.length > 0) await insertBatch();
  await previous;
}

export type OrderToPack = Pick<StoredOrderRow, "id" | "day" | "openedAt" | "isCurrent" | "etag" | "v1" | "v2Deflated">;

/** Yields the orders of a till in batches, sorted by day, by whether they are current, by opening time and by id. */
export function readStoredOrders(tx: SqlTransaction, { locationId, tillId }: TillKey): AsyncIterable<OrderToPack[]> {
  return tx<OrderToPack[]>`
    select id, day::text as day, opened_at::text as opened_at, is_current, etag, v1, v2_deflated from orders
    where location_id = ${locationId} and till_id = ${tillId}
    order by day, is_current, orders.opened_at, id`.cursor(insertBatchSize);
}

/** Makes each order current in only one till: of the tills that contain the order, the till that was pushed last. */
export async function markLatestOrderCopiesCurrent(
  tx: SqlTransaction,
  { locationId, ids }: { locationId: string; ids: string[] },
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
