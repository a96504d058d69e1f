import type { SqlClient, SqlFragment, SqlTransaction } from "@pragma/runtime/database/postgres";

/** The types of rows in the change feed. Orders have no rows: they are entries of the report of their till. */
export type ChangeRowType = "report" | "catalog" | "location" | "e_report";

/** `expired` is a removal because of the report's age. */
type StoredChangeAction = "created" | "replaced" | "erased" | "removed" | "expired";

/** A row of the change feed: the last change of a report, with its orders, or of a catalog, location or e-report. */
export interface ChangeRow {
  type: ChangeRowType;
  id: string;
  position: number;
  action: StoredChangeAction;
  revision: number;
  changedAt: Date;
  orderIds: string[];
  reassignedOrderIds: string[];
  removedOrderIds: string[];
}

/** The change feed of a location, which is locked. */
export interface LockedChangeFeed {
  locationId: string;
  position: number;
}

/**
 * Locks the change feed of a location until the transaction ends. Every transaction that takes a position needs this lock,
 * so that positions are committed in sequence. A new feed begins with the location and its catalog, which every location
 * has.
 */
export async function lockChangeFeed(tx: SqlTransaction, locationId: string): Promise<LockedChangeFeed> {
  const lock = () => tx<LockedChangeFeed[]>`
    select location_id, position from change_positions where location_id = ${locationId} for update`;
  const [existing] = await lock();
  if (existing) return existing;
  const inserted = await tx`
    insert into change_positions (location_id, position) values (${locationId}, 2) on conflict do nothing`;
  if (inserted.count === 1) {
    await tx`
      insert into changes (location_id, type, id, position, action, revision, changed_at)
      values
        (${locationId}, 'location', ${locationId}, 1, 'created', 1, now()),
        (${locationId}, 'catalog', ${locationId}, 2, 'created', 1, now())`;
    await tx`
      insert into unsequenced_changes (location_id, type, change_id, location_position)
      values (${locationId}, 'location', ${locationId}, 1), (${locationId}, 'catalog', ${locationId}, 2)`;
  }
  const [created] = await lock();
  if (!created) throw new Error(`The change feed of location ${locationId} was removed.`);
  return created;
}

export async function findChangeRow(
  tx: SqlTransaction,
  { locationId, type, id }: Pick<ChangeRow, "type" | "id"> & { locationId: string },
): Promise<ChangeRow | undefined> {
  const [row] = await tx<ChangeRow[]>`
    select type, id, position, ${selectChangeColumns(tx, { hasOrders: true })}
    from changes where location_id = ${locationId} and type = ${type} and id = ${id}`;
  return row;
}

/** Stores a row at its new position, which is the last one of the locked feed, and queues it for the feed of all locations. */
export async function upsertLastChangeRow(
  tx: SqlTransaction,
  { locationId }: LockedChangeFeed,
  row: ChangeRow,
): Promise<void> {
  await Promise.all([
    tx`
      insert into changes ${tx({ locationId, ...row })}
      on conflict (location_id, type, id) do update set
        position = excluded.position, action = excluded.action, revision = excluded.revision,
        changed_at = excluded.changed_at, order_ids = excluded.order_ids,
        reassigned_order_ids = excluded.reassigned_order_ids, removed_order_ids = excluded.removed_order_ids`,
    tx`update change_positions set position = ${row.position} where location_id = ${locationId}`,
    tx`
      insert into unsequenced_changes (location_id, type, change_id, location_position)
      values (${locationId}, ${row.type}, ${row.id}, ${row.position})`,
  ]);
}

/**
 * Returns those of these orders that other reports of the location contain. Reads the order ids of all reports of the
 * location: an index of them would need more space than the feed, and only tills that lose orders need it.
 */
export async function findOrderIdsInOtherReports(
  tx: SqlTransaction,
  { locationId, reportId, orderIds }: { locationId: string; reportId: string; orderIds: string[] },
): Promise<Set<string>> {
  if (orderIds.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    select distinct order_id as id from changes, unnest(order_ids) as order_id
    where location_id = ${locationId} and type = 'report' and changes.id <> ${reportId}
      and order_ids && ${orderIds}::uuid[] and order_id = any(${orderIds}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns the last position of a location's feed; undefined if the location has no feed yet. */
export async function findLastChangePosition(sql: SqlClient, locationId: string): Promise<number | undefined> {
  const [row] = await sql<{ position: number }[]>`
    select position from change_positions where location_id = ${locationId}`;
  return row?.position;
}

/** A row of the change feed with the entries that a page needs: the ids of those orders only. */
export interface ChangeRowEntries extends ChangeRow {
  locationId: string;
  /** The number of entries of the whole row: one, and one for each order. */
  entryCount: number;
}

/** The rows and entries that a page can contain: `size` entries, after the first `offset` ones of the row at `position`. */
export interface ChangeRowRange {
  position: number;
  offset: number;
  size: number;
  types: ChangeRowType[];
  /** Whether the page contains orders. Otherwise, the rows are returned without order ids. */
  hasOrders: boolean;
  /** The number of rows to look for. The last of them is not returned, and only shows whether there are more. */
  limit: number;
}

export interface FoundChangeRows {
  /** The positions of the rows that were found, at most `limit`. */
  positions: number[];
  rows: ChangeRowEntries[];
}

/** Returns the columns of a row other than its key and position. Without orders, they contain no order ids. */
export const selectChangeColumns = (
  sql: SqlClient | SqlTransaction,
  { hasOrders }: Pick<ChangeRowRange, "hasOrders">,
) =>
  hasOrders
    ? sql`action, revision, changed_at, order_ids, reassigned_order_ids, removed_order_ids`
    : sql`
        action, revision, changed_at, '{}'::uuid[] as order_ids, '{}'::uuid[] as reassigned_order_ids,
        '{}'::uuid[] as removed_order_ids`;

/** An array of ids has a header of at most 24 bytes. Each id has 16. */
const arrayHeaderBytes = 24;
const uuidBytes = 16;

/**
 * Returns the rows that begin a page of `size` entries, with the order ids of those entries and at least one more. A till
 * can have thousands of orders. The number of ids in the rows before a row comes from the size of their arrays, because
 * PostgreSQL would read a whole array to count its ids. It can be too low, which adds rows to the result.
 */
export async function findEntriesOfRows(
  sql: SqlClient,
  rows: SqlFragment,
  { position, offset, size }: Pick<ChangeRowRange, "position" | "offset" | "size">,
): Promise<ChangeRowEntries[]> {
  return sql`
    select location_id, type, id, position, action, revision, changed_at,
      1 + cardinality(order_ids) + cardinality(reassigned_order_ids) + cardinality(removed_order_ids) as entry_count,
      order_ids[skipped : skipped + ${size + 1}] as order_ids,
      reassigned_order_ids[skipped - cardinality(order_ids) : skipped + ${size + 1} - cardinality(order_ids)]
        as reassigned_order_ids,
      removed_order_ids[
        skipped - cardinality(order_ids) - cardinality(reassigned_order_ids) :
        skipped + ${size + 1} - cardinality(order_ids) - cardinality(reassigned_order_ids)
      ] as removed_order_ids
    from (
      select *, case when position = ${position} then ${offset}::int else 0 end as skipped,
        coalesce(sum((pg_column_size(order_ids) - ${arrayHeaderBytes}) / ${uuidBytes}) over (
          order by position rows between unbounded preceding and 1 preceding), 0) as earlier_ids
      from (${rows}) as row
    ) as measured
    where earlier_ids <= ${size + offset}::int
    order by position`;
}

/** Returns the rows that begin a page of the feed of a location, and their positions. */
export async function findRowsOfLocation(
  sql: SqlClient,
  locationId: string,
  { types, limit, ...range }: ChangeRowRange,
): Promise<FoundChangeRows> {
  const rows = await findEntriesOfRows(
    sql,
    sql`
      select location_id, type, id, position, ${selectChangeColumns(sql, range)} from changes
      where location_id = ${locationId} and position >= ${range.position} and type = any(${types}::text[])
      order by position limit ${limit}`,
    range,
  );
  return { positions: rows.map(({ position }) => position), rows: rows.slice(0, limit - 1) };
}
