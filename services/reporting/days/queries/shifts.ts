import type { BusEventData } from "@pragma/contracts/events";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { type Database, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";

type ShiftChange = BusEventData<"shift.changed">;

/** An order that was live and is in no till. `tillId` is the till of its shift. */
export type OrderWithoutTill = ShiftChange["ordersWithoutTill"][number] & { tillId: string };

/** Stores a change of a shift. Returns the days that it concerns; none if a later change is already stored. */
export async function storeShiftChange(
  tx: SqlTransaction,
  { locationId, tillId, day, startedAt, position, isOpen }: ShiftChange,
): Promise<string[]> {
  const [row] = await tx<{ days: string[] }[]>`
    with before as (
      select day from shifts where location_id = ${locationId} and till_id = ${tillId}
    ), stored as (
      insert into shifts as existing (location_id, till_id, day, started_at, position, is_open)
      values (${locationId}, ${tillId}, ${day}::text::date, ${startedAt}, ${position}, ${isOpen})
      on conflict (location_id, till_id) do update set
        day = excluded.day, started_at = excluded.started_at, position = excluded.position, is_open = excluded.is_open,
        changed_at = now()
      where existing.position <= excluded.position
      returning day
    )
    select array_agg(distinct day::text) as days from (
      select day from stored union all select day from before where exists (select from stored)
    ) as changed
    having count(*) > 0`;
  return row?.days ?? [];
}

/**
 * Stores orders that were live and that the till of their shift does not contain, and which of them are live again.
 * Returns their days.
 */
export async function storeOrdersWithoutTill(
  tx: SqlTransaction,
  { locationId, tillId, day, position, ordersWithoutTill, continuedOrderIds }: ShiftChange,
): Promise<string[]> {
  const orders = [
    ...ordersWithoutTill.map((order) => ({ ...order, isLive: false })),
    ...continuedOrderIds.map((orderId) => ({ orderId, total: 0, isCanceled: false, isLive: true })),
  ];
  if (orders.length === 0) return [];
  // An order that is live again keeps the day on which it was without a till.
  const rows = await tx<{ day: string }[]>`
    insert into orders_without_till as existing
      (location_id, order_id, till_id, day, total, is_canceled, position, is_live, found_in_till_id)
    select ${locationId}, order_id, ${tillId},
      coalesce(
        (select day from reports where location_id = ${locationId} and till_id = ${tillId}), ${day}::text::date
      ),
      total, is_canceled, ${position}, is_live,
      (select till_id from orders where location_id = ${locationId} and id = input.order_id and is_current)
    from jsonb_to_recordset(${toRecordsetParameter(tx, orders)})
      as input (order_id uuid, total bigint, is_canceled boolean, is_live boolean)
    on conflict (location_id, order_id) do update set
      till_id = excluded.till_id, total = excluded.total, is_canceled = excluded.is_canceled,
      day = case when excluded.is_live then existing.day else excluded.day end,
      position = excluded.position, is_live = excluded.is_live, found_in_till_id = excluded.found_in_till_id,
      changed_at = now()
    where existing.position <= excluded.position
    returning day::text as day`;
  return [...new Set(rows.map((row) => row.day))];
}

/** Records which of the orders without a till the new revision of a till contains. Returns the days that change. */
export async function updateOrdersWithoutTill(
  tx: SqlTransaction,
  { locationId, tillId, orderIds }: { locationId: string; tillId: string; orderIds: string[] },
): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    update orders_without_till
    set found_in_till_id = case when order_id = any(${orderIds}::uuid[]) then ${tillId}::uuid end
    where location_id = ${locationId} and (
      found_in_till_id is null and order_id = any(${orderIds}::uuid[])
      or found_in_till_id = ${tillId} and order_id <> all(${orderIds}::uuid[])
    )
    returning day::text as day`;
  return [...new Set(rows.map(({ day }) => day))];
}

/**
 * Moves the orders without a till to the business day of the till of their shift, which changes when the time zone of the
 * location was corrected. Returns the days that change.
 */
export async function moveOrdersWithoutTill(
  tx: SqlTransaction,
  { locationId, tillId, day }: { locationId: string; tillId: string; day: string },
): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    with previous as (
      select order_id, day from orders_without_till
      where location_id = ${locationId} and till_id = ${tillId} and day <> ${day}::text::date
    )
    update orders_without_till moved set day = ${day}::text::date
    from previous where moved.location_id = ${locationId} and moved.order_id = previous.order_id
    returning previous.day::text as day`;
  return rows.length === 0 ? [] : [day, ...new Set(rows.map((row) => row.day))];
}

/**
 * Deletes shifts that ended, and orders that were found in a till or became live again, so long ago that no event about
 * them can arrive anymore.
 */
export async function deleteEndedShifts({ sql }: Database, days: number): Promise<void> {
  const isOld = sql`changed_at < now() - make_interval(days => ${days})`;
  for (const partition of await listPartitionNames(sql, "shifts"))
    await deleteRowsInBatches(sql, partition, sql`not is_open and ${isOld}`);
  for (const partition of await listPartitionNames(sql, "orders_without_till"))
    await deleteRowsInBatches(sql, partition, sql`(found_in_till_id is not null or is_live) and ${isOld}`);
}
