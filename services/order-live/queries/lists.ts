import type { Sql } from "@pragma/runtime/postgres";
import type { OrderFilter } from "../order-filter.ts";

/** An order's place in the list of its location. */
export interface OrderPlace {
  /** When it was opened at the point of sale. */
  at: string;
  id: string;
}

export interface ListedOrder extends OrderPlace {
  body: string;
  /** Of its last entry in the stream. */
  position: number;
}

interface Stretch {
  start: { after: OrderPlace } | { skip: number };
  limit: number;
}

/**
 * Listed orders of a location that pass the filter, newest first, from the one after a place or after so many. What is
 * skipped is read from the index alone.
 */
export async function findListed(
  sql: Sql,
  { locationId, filter }: { locationId: string; filter: OrderFilter },
  { start, limit }: Stretch,
): Promise<ListedOrder[]> {
  const rows = await sql<(Omit<ListedOrder, "at"> & { at: Date })[]>`
    with page as (
      select opened_at, id from orders
      where location_id = ${locationId} and left_at is null and not is_training and ${passing(sql, filter)}
        ${"after" in start ? sql`and (opened_at, id) < (${start.after.at}::timestamptz, ${start.after.id}::uuid)` : sql``}
      order by opened_at desc, id desc
      limit ${limit} offset ${"skip" in start ? start.skip : 0}
    )
    select orders.id, orders.opened_at as at, orders.body, orders.position
    from page join orders on orders.location_id = ${locationId} and orders.id = page.id
    order by page.opened_at desc, page.id desc`;
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }));
}

/** How many orders of a location pass the filter: counted as they change, so this costs the same however many they are. */
export async function countListed(sql: Sql, locationId: string, filter: OrderFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(count), 0)::int as count from tallies
    where location_id = ${locationId} and ${passing(sql, filter)}`;
  return row?.count ?? 0;
}

function passing(sql: Sql, { tillId, isPaid, isTransferred, isCanceled }: OrderFilter) {
  return sql`
    (${tillId ?? null}::uuid is null or till_id = ${tillId ?? null})
    and (${isPaid ?? null}::boolean is null or is_paid = ${isPaid ?? null})
    and (${isTransferred ?? null}::boolean is null or is_transferred = ${isTransferred ?? null})
    and (${isCanceled ?? null}::boolean is null or is_canceled = ${isCanceled ?? null})`;
}
