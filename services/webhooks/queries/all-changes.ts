import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import {
  type ChangeEntryRange,
  type ChangeRowEntries,
  type ChangeRowType,
  selectChangeColumns,
  selectEntriesOfRows,
} from "./changes.ts";

/** The state of the feed of all locations. */
export interface AllChangesFeed {
  /** Identifies the feed of this installation. */
  feedId: string;
  /** The last position. */
  position: number;
}

/** A change that has no position in the feed of all locations yet. */
export interface UnsequencedChange {
  queueId: number;
  locationId: string;
  type: ChangeRowType;
  changeId: string;
  /** The position in the feed of the location. */
  locationPosition: number;
}

/** A row of the feed of all locations, which names a row of the feed of a location. */
export interface AllChangesRow {
  position: number;
  locationId: string;
  locationPosition: number;
}

export async function findAllChangesFeed(sql: SqlClient): Promise<AllChangesFeed> {
  const [feed] = await sql<[AllChangesFeed]>`select feed_id, position from all_changes_position`;
  return feed;
}

/** Locks the feed of all locations until the transaction ends. Only who has the lock may assign positions. */
export async function lockAllChangesFeed(tx: SqlTransaction): Promise<AllChangesFeed> {
  const [feed] = await tx<[AllChangesFeed]>`select feed_id, position from all_changes_position for update`;
  return feed;
}

export async function hasUnsequencedChanges(sql: SqlClient): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`select exists (select from unsequenced_changes)`;
  return row.exists;
}

/** Returns the oldest changes without a position, in the sequence in which they were stored. */
export async function findUnsequencedChanges(tx: SqlTransaction, limit: number): Promise<UnsequencedChange[]> {
  return tx`
    select id as queue_id, location_id, type, change_id, location_position from unsequenced_changes
    order by id limit ${limit}`;
}

/**
 * Returns the current positions of the rows of changes in the feeds of their locations, by the `queueId`.
 *
 * The subquery with a limit is run for each change, with one partition. PostgreSQL would read a join from all rows of all
 * partitions, because its estimate assumes that each lookup searches every partition.
 */
export async function findLocationPositions(
  tx: SqlTransaction,
  changes: UnsequencedChange[],
): Promise<Map<number, number>> {
  const rows = await tx<{ queueId: number; position: number }[]>`
    select queue_id, position
    from unnest(
        ${changes.map(({ queueId }) => queueId)}::bigint[], ${changes.map(({ locationId }) => locationId)}::uuid[],
        ${changes.map(({ type }) => type)}::text[], ${changes.map(({ changeId }) => changeId)}::uuid[]
      ) as queued (queue_id, location_id, type, id),
      lateral (
        select position from changes
        where location_id = queued.location_id and type = queued.type and id = queued.id limit 1
      ) as row`;
  return new Map(rows.map(({ queueId, position }) => [queueId, position]));
}

export async function deleteUnsequencedChanges(tx: SqlTransaction, queueIds: number[]): Promise<void> {
  await tx`delete from unsequenced_changes where id = any(${queueIds}::bigint[])`;
}

/** Gives each change, in this sequence, the next position after `lastPosition`. The caller must hold the lock. */
export async function assignAllChangesPositions(
  tx: SqlTransaction,
  lastPosition: number,
  changes: UnsequencedChange[],
): Promise<void> {
  await Promise.all([
    tx`
      insert into all_changes (location_id, type, id, position, location_position)
      select location_id, type, change_id, ${lastPosition} + number, location_position
      from unnest(
          ${changes.map(({ locationId }) => locationId)}::uuid[], ${changes.map(({ type }) => type)}::text[],
          ${changes.map(({ changeId }) => changeId)}::uuid[],
          ${changes.map(({ locationPosition }) => locationPosition)}::bigint[]
        ) with ordinality as change (location_id, type, change_id, location_position, number)
      on conflict (location_id, type, id) do update set
        position = excluded.position, location_position = excluded.location_position`,
    tx`update all_changes_position set position = ${lastPosition + changes.length}`,
  ]);
}

/** Returns the number of changes that have no position in the feed of all locations yet, counted up to `limit`. */
export async function countPendingChanges(sql: SqlClient | SqlTransaction, limit: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from (select from unsequenced_changes limit ${limit}) as counted`;
  return row.count;
}

/** Returns the age of the oldest change that has no position in the feed of all locations yet; 0 if there is none. */
export async function findOldestPendingChangeAgeSeconds(sql: SqlClient | SqlTransaction): Promise<number> {
  const [row] = await sql<[{ ageSeconds: number }]>`
    select coalesce((
      select extract(epoch from now() - created_at) from unsequenced_changes order by id limit 1
    ), 0)::float8 as age_seconds`;
  return row.ageSeconds;
}

/** Returns up to `limit` rows of these types from a position on. */
export async function findAllChangesRowsFrom(
  sql: SqlClient,
  { position, types, limit }: { position: number; types: ChangeRowType[]; limit: number },
): Promise<AllChangesRow[]> {
  // Each type is read with its index, so that a rare type needs no search through all others.
  return sql`
    select row.position, row.location_id, row.location_position
    from unnest(${types}::text[]) as requested (type), lateral (
      select position, location_id, location_position from all_changes
      where type = requested.type and position >= ${position}
      order by position limit ${limit}
    ) as row
    order by position limit ${limit}`;
}

/**
 * Returns the rows of a page, as `selectEntriesOfRows` does, with their positions in the feed of all locations. Omits rows
 * whose position in the feed of their location has changed, because the page of the later position contains them. Of a
 * location that an operator has removed, returns only the removal.
 */
export async function findChangeRowsOfAllLocations(
  sql: SqlClient,
  rows: AllChangesRow[],
  { hasOrders, ...range }: ChangeEntryRange & { hasOrders: boolean },
): Promise<ChangeRowEntries[]> {
  const positions = rows.map(({ position }) => position);
  const found = sql`
    select sequenced.location_id, sequenced.position, change.* from unnest(
        ${positions}::bigint[], ${rows.map(({ locationId }) => locationId)}::uuid[],
        ${rows.map(({ locationPosition }) => locationPosition)}::bigint[]
      ) as sequenced (position, location_id, location_position),
      lateral (
        select type, id, ${selectChangeColumns(sql, { hasOrders })} from changes
        where location_id = sequenced.location_id and position = sequenced.location_position limit 1
      ) as change
    union all
    select location_id, position, type, id, 'removed', removed_revision, removed_at, '{}', '{}', '{}' from all_changes
    where type = 'location' and removed_at is not null and position = any(${positions}::bigint[])`;
  return sql<ChangeRowEntries[]>`${selectEntriesOfRows(sql, found, range)}`;
}
