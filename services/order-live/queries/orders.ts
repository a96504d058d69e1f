import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { StoredLiveOrderState } from "../order-state.ts";
import type { OrderWithoutTill } from "../publish-shift-changes.ts";

const stateColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, till_id, revision_hash, modified_at, is_training, is_paid, is_transferred, is_canceled, is_manually_closed,
  items_hash, sequence, position, created_at, departed_at is not null as has_departed, closed_at`;

type OrderStates = Map<string, StoredLiveOrderState>;

const toStatesById = (rows: (StoredLiveOrderState & { id: string })[]): OrderStates =>
  new Map(rows.map(({ id, ...state }) => [id, state]));

interface OrderKeys {
  locationId: string;
  ids: string[];
}

/** Returns the states of orders by id. One that was never live, but is in the report of a closed till, is departed. */
export async function findOrderStates(tx: SqlTransaction, { locationId, ids }: OrderKeys): Promise<OrderStates> {
  // The ids of each till are unnested before they are compared, so that they are read only once.
  const rows = await tx<(StoredLiveOrderState & { id: string })[]>`
    with stored as (
      select ${stateColumns(tx)} from live_orders where location_id = ${locationId} and id = any(${ids}::uuid[])
    )
    select * from stored
    union all
    (
      select distinct on (never_live.id) never_live.id, till_id, null, null, false, false, false, false, false, null,
        0, 0, finished_at, true, closed_at
      from final_tills cross join unnest(never_live_order_ids) as never_live (id)
      where location_id = ${locationId} and never_live.id = any(${ids}::uuid[])
        and never_live.id not in (select id from stored)
      order by never_live.id, finished_at
    )`;
  return toStatesById(rows);
}

/** Returns the states of live orders by id: those of a till or with these ids, or those that have not changed. */
export async function findLiveOrderStates(
  tx: SqlTransaction,
  locationId: string,
  selection: { tillId: string; ids: string[] } | { unchangedSince: Date },
): Promise<OrderStates> {
  const isSelected =
    "unchangedSince" in selection
      ? tx`updated_at < ${selection.unchangedSince}`
      : tx`(till_id = ${selection.tillId} or id = any(${selection.ids}::uuid[]))`;
  return toStatesById(
    await tx<(StoredLiveOrderState & { id: string })[]>`
      select ${stateColumns(tx)} from live_orders
      where location_id = ${locationId} and departed_at is null and ${isSelected} order by opened_at, id`,
  );
}

export interface LiveOrderUpsertRow extends StoredLiveOrderState {
  id: string;
  openedAt: string;
  updatedAt: string;
  etag: string;
  body: string;
}

export async function upsertLiveOrderRows(
  tx: SqlTransaction,
  locationId: string,
  orders: LiveOrderUpsertRow[],
): Promise<void> {
  await tx`
    insert into live_orders
      (location_id, id, till_id, revision_hash, modified_at, is_training, is_paid, is_transferred, is_canceled,
       is_manually_closed, items_hash, sequence, position, opened_at, created_at, updated_at, etag, body)
    select ${locationId}, input.* from jsonb_to_recordset(${toRecordsetParameter(tx, orders)}) as input (
      id uuid, till_id uuid, revision_hash text, modified_at text, is_training boolean, is_paid boolean,
      is_transferred boolean, is_canceled boolean, is_manually_closed boolean, items_hash text, sequence int,
      position bigint, opened_at timestamptz, created_at timestamptz, updated_at timestamptz, etag text, body text
    )
    on conflict (location_id, id) do update set
      till_id = excluded.till_id, revision_hash = excluded.revision_hash, modified_at = excluded.modified_at,
      is_training = excluded.is_training, is_paid = excluded.is_paid, is_transferred = excluded.is_transferred,
      is_canceled = excluded.is_canceled, is_manually_closed = excluded.is_manually_closed,
      items_hash = excluded.items_hash, sequence = excluded.sequence, position = excluded.position,
      opened_at = excluded.opened_at, updated_at = excluded.updated_at, etag = excluded.etag, body = excluded.body,
      departed_at = null, closed_at = null`;
}

/** Returns the totals of live orders, for the orders that no till contains, by the till of their shift. */
export async function findOrdersWithoutTill(
  tx: SqlTransaction,
  { locationId, ids }: OrderKeys,
): Promise<Map<string, OrderWithoutTill[]>> {
  const rows = await tx<(OrderWithoutTill & { tillId: string })[]>`
    select id as order_id, till_id, is_canceled, (body::json ->> 'total')::bigint as total from live_orders
    where location_id = ${locationId} and id = any(${ids}::uuid[]) and body is not null and not is_training
    order by opened_at, id`;
  const orders = new Map<string, OrderWithoutTill[]>();
  for (const { tillId, ...order } of rows) orders.set(tillId, [...(orders.get(tillId) ?? []), order]);
  return orders;
}
