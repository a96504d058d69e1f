import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { OrderFilterFields } from "../order-state.ts";

/** One change of what a location's list shows, as its log holds it. */
export interface LiveOrderRevision {
  /** In the location's stream: the next is one more. */
  position: number;
  orderId: string;
  before: OrderFilterFields | null;
  after: OrderFilterFields | null;
  /** The order, or why it left: JSON as it is sent. */
  body: string;
}

/** Takes the lock under which the location's orders change, until the transaction ends, and gives the last position. */
export async function lockLocationStream(tx: SqlTransaction, locationId: string): Promise<number> {
  const [, [stream]] = await Promise.all([
    tx`insert into streams (location_id, position) values (${locationId}, 0) on conflict do nothing`,
    tx<[{ position: number }]>`select position from streams where location_id = ${locationId} for update`,
  ]);
  return stream.position;
}

/** Appends to a location's log, whose lock the caller holds. */
export async function appendRevisions(
  tx: SqlTransaction,
  locationId: string,
  revisions: LiveOrderRevision[],
): Promise<void> {
  const last = revisions.at(-1);
  if (!last) return;
  await Promise.all([
    tx`
      insert into revisions (location_id, position, order_id, before, after, body)
      select ${locationId}, given.* from jsonb_to_recordset(${toRecordsetParameter(tx, revisions)})
        as given (position bigint, order_id uuid, before jsonb, after jsonb, body text)`,
    tx`update streams set position = ${last.position} where location_id = ${locationId}`,
  ]);
}

/** The log after a position: so many entries at most, and no more than fit; the first however large it is. */
export async function findRevisions(
  sql: SqlClient,
  { locationId, after, limit, maxBytes }: { locationId: string; after: number; limit: number; maxBytes: number },
): Promise<LiveOrderRevision[]> {
  return sql<LiveOrderRevision[]>`
    with batch as (
      select * from revisions
      where location_id = ${locationId} and position > ${after} order by position limit ${limit}
    ), measured as (
      select position, order_id, before, after, body, row_number() over in_order as number,
        sum(octet_length(body)) over in_order as bytes
      from batch window in_order as (order by position)
    )
    select position, order_id, before, after, body from measured
    where number = 1 or bytes <= ${maxBytes} order by position`;
}

/** The last position of a location's stream, and the lowest after which its log is whole. */
export async function findLogRange(sql: SqlClient, locationId: string): Promise<{ first: number; last: number }> {
  const [row] = await sql<{ first: number; last: number }[]>`
    select position as last, coalesce(
      (select min(position) - 1 from revisions where location_id = ${locationId}), position
    ) as first
    from streams where location_id = ${locationId}`;
  return row ?? { first: 0, last: 0 };
}

/** The last position of each of these locations' streams. */
export async function findStreamPositions(
  sql: SqlClient,
  locationIds: string[],
): Promise<{ locationId: string; position: number }[]> {
  return sql<{ locationId: string; position: number }[]>`
    select location_id, position from streams where location_id = any(${locationIds}::uuid[])`;
}
