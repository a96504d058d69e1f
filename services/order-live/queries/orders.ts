import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { StoredLiveOrderState } from "../order-state.ts";

/** The stored state of an order as PostgreSQL returns it, with `createdAt` as a `Date`. */
type OrderStateRow = Omit<StoredLiveOrderState, "createdAt"> & { id: string; createdAt: Date };

const stateColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, till_id, revision_hash, modified_at, is_training, is_paid, is_transferred, is_canceled, is_manually_closed,
  items_hash, sequence, position, created_at, departed_at is not null as has_departed, closed_at`;

function toOrderState({ id, createdAt, ...rest }: OrderStateRow): [string, StoredLiveOrderState] {
  return [id, { ...rest, createdAt: createdAt.toISOString() }];
}

interface OrderKeys {
  locationId: string;
  ids: string[];
}

interface TillKey {
  locationId: string;
  tillId: string;
}

/** Returns the states of these orders, live or departed, by id. */
export async function findOrderStatesIncludingNoLongerLive(
  tx: SqlTransaction,
  { locationId, ids }: OrderKeys,
): Promise<Map<string, StoredLiveOrderState>> {
  const rows = await tx<OrderStateRow[]>`
    select ${stateColumns(tx)} from live_orders where location_id = ${locationId} and id = any(${ids}::uuid[])`;
  return new Map(rows.map(toOrderState));
}

/** Returns, by order id, the states of the live orders that have this till id or one of these order ids. */
export async function findTillLiveOrderStates(
  tx: SqlTransaction,
  { locationId, tillId, ids }: OrderKeys & TillKey,
): Promise<Map<string, StoredLiveOrderState>> {
  const rows = await tx<OrderStateRow[]>`
    select ${stateColumns(tx)} from live_orders
    where location_id = ${locationId} and departed_at is null and (till_id = ${tillId} or id = any(${ids}::uuid[]))
    order by opened_at, id`;
  return new Map(rows.map(toOrderState));
}

/** Returns the states of a location's live orders that have not changed since a given time, by id. */
export async function findStaleLiveOrderStates(
  tx: SqlTransaction,
  { locationId, since }: { locationId: string; since: Date },
): Promise<Map<string, StoredLiveOrderState>> {
  const rows = await tx<OrderStateRow[]>`
    select ${stateColumns(tx)} from live_orders
    where location_id = ${locationId} and departed_at is null and updated_at < ${since}`;
  return new Map(rows.map(toOrderState));
}

export async function findStaleLiveOrderLocationIds(sql: SqlClient, since: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct location_id as id from live_orders where departed_at is null and updated_at < ${since}`;
  return rows.map(({ id }) => id);
}

/** A live order with every column that an upsert writes. */
export interface LiveOrderUpsertRow extends StoredLiveOrderState {
  id: string;
  openedAt: string;
  updatedAt: string;
  etag: string;
  body: string;
}

/** Inserts live orders or replaces their stored state. */
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

/**
 * Marks live orders as departed. `closedAt` is the time at which the till whose report contains the orders was closed;
 * null if no report contains them.
 */
export async function markOrdersNoLongerLive(
  tx: SqlTransaction,
  { locationId, ids, closedAt }: OrderKeys & { closedAt: string | null },
): Promise<void> {
  await tx`
    update live_orders set departed_at = now(), closed_at = ${closedAt}, body = null, etag = null
    where location_id = ${locationId} and id = any(${ids}::uuid[])`;
}

/** Inserts reported orders that were never sent. They are marked as departed, so that a late upsert is skipped. */
export async function insertMissingOrdersAsNoLongerLive(
  tx: SqlTransaction,
  { locationId, tillId, ids, closedAt }: OrderKeys & TillKey & { closedAt: string },
): Promise<void> {
  await tx`
    insert into live_orders
      (location_id, id, till_id, is_training, is_paid, is_transferred, is_canceled, is_manually_closed, sequence,
       position, created_at, updated_at, departed_at, closed_at)
    select ${locationId}, id, ${tillId}, false, false, false, false, false, 0, 0, now(), now(), now(), ${closedAt}
    from unnest(${ids}::uuid[]) as input (id)
    on conflict (location_id, id) do nothing`;
}

export async function deleteLiveOrderRows(tx: SqlTransaction, { locationId, ids }: OrderKeys): Promise<void> {
  await tx`delete from live_orders where location_id = ${locationId} and id = any(${ids}::uuid[])`;
}

/**
 * Returns the response body of a live order. If `locationId` is null, returns the most recently updated order with this
 * id at any location.
 */
export async function findLiveOrderResponseBody(
  sql: SqlClient,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<{ body: string; etag: string } | undefined> {
  const [row] = await sql<{ body: string; etag: string }[]>`
    select body, etag from live_orders
    where id = ${id} and departed_at is null ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}
    order by updated_at desc limit 1`;
  return row;
}

/** Records that a till's report is final. Returns false if it was already recorded as final. */
export async function recordTillReportIsFinal(tx: SqlTransaction, { locationId, tillId }: TillKey): Promise<boolean> {
  const { count } = await tx`
    insert into final_tills (location_id, till_id) values (${locationId}, ${tillId}) on conflict do nothing`;
  return count > 0;
}

/** Returns the ids of those given tills that have a final report. */
export async function findTillIdsWithFinalReport(
  tx: SqlTransaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select till_id as id from final_tills where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}
