import { type SqlClient, type SqlTransaction, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import type { LiveOrderFilterFields } from "../order-state.ts";

/** An entry of a location's change log, which describes one change of a listed order. */
export interface LiveOrderChangeLogEntry {
  /** Position in the location's stream. Positions are consecutive. */
  position: number;
  orderId: string;
  before: LiveOrderFilterFields | null;
  after: LiveOrderFilterFields | null;
  /** The JSON that streams send: the order, or the reason why it left the list. */
  body: string;
}

/** Locks a location's stream and returns its last position, so that changes are committed in sequence. */
export async function lockStreamPosition(tx: SqlTransaction, locationId: string): Promise<number> {
  const [, [stream]] = await Promise.all([
    tx`insert into location_streams (location_id, position) values (${locationId}, 0) on conflict do nothing`,
    tx<[{ position: number }]>`select position from location_streams where location_id = ${locationId} for update`,
  ]);
  return stream.position;
}

/** Appends entries to a location's change log. The caller must hold the lock of the stream. */
export async function appendChangeLog(
  tx: SqlTransaction,
  locationId: string,
  revisions: LiveOrderChangeLogEntry[],
): Promise<void> {
  const last = revisions.at(-1);
  if (!last) return;
  await Promise.all([
    tx`
      insert into order_revisions (location_id, position, order_id, before, after, body)
      select ${locationId}, input.* from jsonb_to_recordset(${toRecordsetParameter(tx, revisions)})
        as input (position bigint, order_id uuid, before jsonb, after jsonb, body text)`,
    tx`update location_streams set position = ${last.position} where location_id = ${locationId}`,
  ]);
}

/** Returns up to `limit` log entries after a position, with up to `maxBytes` unless the first entry is larger. */
export async function findLiveOrderChangeLogEntries(
  sql: SqlClient,
  { locationId, after, limit, maxBytes }: { locationId: string; after: number; limit: number; maxBytes: number },
): Promise<LiveOrderChangeLogEntry[]> {
  return sql<LiveOrderChangeLogEntry[]>`
    with batch as (
      select * from order_revisions
      where location_id = ${locationId} and position > ${after} order by position limit ${limit}
    ), measured as (
      select position, order_id, before, after, body, row_number() over in_order as number,
        sum(octet_length(body)) over in_order as bytes
      from batch window in_order as (order by position)
    )
    select position, order_id, before, after, body from measured
    where number = 1 or bytes <= ${maxBytes} order by position`;
}
