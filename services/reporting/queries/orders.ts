import { type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";

export interface OrderRow {
  id: string;
  reportId: string;
  day: string;
  openedAt: string;
  createdAt: string;
  updatedAt: string;
  pushedAt: string;
  etag: string;
  v1: string;
  v2: string;
}

interface LocationOrderIds {
  locationId: string;
  ids: string[];
}

export async function findOrderIdsOfTill(tx: SqlTransaction, tillId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`select id from orders where till_id = ${tillId}`;
  return rows.map(({ id }) => id);
}

/** The day of each of these orders that is served. */
export async function findCurrentOrderDays(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select day::text as day from orders
    where location_id = ${locationId} and id = any(${ids}::uuid[]) and is_current`;
  return rows.map(({ day }) => day);
}

/** When each of these orders was first received at this location, in whatever till. */
export async function findOrderCreationTimes(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<Map<string, string>> {
  const rows = await tx<{ id: string; created: Date }[]>`
    select id, min(created_at) as created from orders
    where location_id = ${locationId} and id = any(${ids}::uuid[]) group by id`;
  return new Map(rows.map(({ id, created }) => [id, created.toISOString()]));
}

/** Puts a till's orders in the place of those it had. Orders that other tills hold too are served by nobody until `settleOwners`. */
export async function replaceOrdersOfTill(
  tx: SqlTransaction,
  { tillId, locationId, rows }: { tillId: string; locationId: string; rows: OrderRow[] },
): Promise<void> {
  await tx`delete from orders where till_id = ${tillId}`;
  const ids = rows.map(({ id }) => id);
  const storedIds = new Set(await findStoredOrderIds(tx, { locationId, ids }));
  const stored = rows.map((row) => ({ ...row, tillId, locationId, isCurrent: !storedIds.has(row.id) }));
  // As rows of values: in an array every quote of the replies would have to be escaped, and so few at a time that
  // putting them on the wire does not hold up the process.
  for (let at = 0; at < stored.length; at += insertBatchSize) {
    await tx`insert into orders ${tx(stored.slice(at, at + insertBatchSize))}`;
  }
}

const insertBatchSize = 25;

/** Which of these orders some till of the location holds. */
async function findStoredOrderIds(tx: SqlTransaction, { locationId, ids }: LocationOrderIds): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select distinct id from orders where location_id = ${locationId} and id = any(${ids}::uuid[])`;
  return rows.map(({ id }) => id);
}

/** Gives each of these orders to the till that was pushed last of those that hold it. */
export async function assignOrdersToLatestTill(
  tx: SqlTransaction,
  { locationId, ids }: LocationOrderIds,
): Promise<void> {
  const contested = await tx<{ id: string; owner: string }[]>`
    select id, (array_agg(till_id order by pushed_at desc, till_id desc))[1] as owner
    from orders where location_id = ${locationId} and id = any(${ids}::uuid[])
    group by id having count(*) > 1 or not bool_or(is_current)`;
  if (contested.length === 0) return;
  const contestedIds = contested.map(({ id }) => id);
  // First nobody, then the owner: the index that allows one owner is checked row by row.
  await tx`
    update orders set is_current = false
    where location_id = ${locationId} and id = any(${contestedIds}::uuid[]) and is_current`;
  await tx`
    update orders set is_current = true
    from jsonb_to_recordset(${toRecordsetParameter(tx, contested)}) as owned (id uuid, owner uuid)
    where orders.location_id = ${locationId} and orders.id = owned.id and orders.till_id = owned.owner`;
}
