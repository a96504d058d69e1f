import type { SqlTransaction } from "@pragma/runtime/database/postgres";

/** Excludes orders. Returns those that were not excluded before. */
export async function insertExcludedOrders(
  tx: SqlTransaction,
  { locationId, orderIds }: { locationId: string; orderIds: readonly string[] },
): Promise<string[]> {
  const rows = await tx<{ orderId: string }[]>`
    insert into e_excluded_orders (location_id, order_id)
    select ${locationId}, unnest(${[...orderIds]}::uuid[])
    on conflict do nothing returning order_id`;
  return rows.map(({ orderId }) => orderId);
}

export async function deleteExcludedOrder(
  tx: SqlTransaction,
  { locationId, orderId }: { locationId: string; orderId: string },
): Promise<boolean> {
  const { count } = await tx`
    delete from e_excluded_orders where location_id = ${locationId} and order_id = ${orderId}`;
  return count > 0;
}

/** Returns the tills that contain some of these orders, also in copies that another till has replaced, packed or not. */
export async function listTillsOfOrders(
  tx: SqlTransaction,
  { locationId, orderIds }: { locationId: string; orderIds: readonly string[] },
): Promise<{ tillId: string; excludedOrderIds: string[]; excludedFigures: string | null; orderIds: string[] }[]> {
  return tx`
    with found as (
      select till_id, id as order_id from orders
      where location_id = ${locationId} and id = any(${[...orderIds]}::uuid[])
      union
      select till_id, order_id from packed_orders, unnest(ids) as order_id
      where location_id = ${locationId} and ids && ${[...orderIds]}::uuid[]
        and order_id = any(${[...orderIds]}::uuid[])
    )
    select figures.till_id, figures.excluded_order_ids, figures.excluded_figures, found.order_ids
    from (select till_id, array_agg(order_id) as order_ids from found group by till_id) as found
    join e_till_figures as figures on figures.location_id = ${locationId} and figures.till_id = found.till_id`;
}
