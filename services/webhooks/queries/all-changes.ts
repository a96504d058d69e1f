import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { type ChangeRowRange, type FoundChangeRows, findEntriesOfRows, selectChangeColumns } from "./changes.ts";

export interface AllChangesFeed {
  /** Identifies the feed of this installation. */
  feedId: string;
  position: number;
}

export async function findAllChangesFeed(sql: SqlClient): Promise<AllChangesFeed> {
  const [feed] = await sql<[AllChangesFeed]>`select feed_id, position from all_changes_position`;
  return feed;
}

const maxBatchSize = 1_000;

/**
 * Adds committed changes to the feed of all locations, in up to `maxBatches` batches, and returns the state of the feed.
 * Any process can do this at any time.
 *
 * Positions are assigned after the commit, because a transaction that takes a position must keep all others from taking one
 * until it ends. Here, only these short transactions wait for each other, and no event of a location waits for another
 * location.
 */
export async function sequenceChanges(
  db: Database,
  { maxBatches }: { maxBatches: number },
): Promise<AllChangesFeed & { isComplete: boolean }> {
  let isComplete = false;
  for (let batch = 0; batch < maxBatches && !isComplete; batch += 1) {
    const [waiting] = await db.sql`select from unsequenced_changes limit 1`;
    isComplete = !waiting || (await sequenceBatch(db)) < maxBatchSize;
  }
  return { ...(await findAllChangesFeed(db.sql)), isComplete };
}

/** Returns the number of changes that no longer wait for a position. */
async function sequenceBatch(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const [feed] = await tx<[AllChangesFeed]>`select feed_id, position from all_changes_position for update`;
    // The subquery with a limit is run for each change, with one partition. PostgreSQL would read a join from all rows of
    // all partitions, because its estimate assumes that each lookup searches every partition.
    const stored = await tx<{ queueId: number; isCurrent: boolean }[]>`
      select queue_id, position = location_position as is_current
      from (
          select id as queue_id, location_id, type, change_id as id, location_position from unsequenced_changes
          order by id limit ${maxBatchSize}
        ) as queued,
        lateral (
          select position from changes
          where location_id = queued.location_id and type = queued.type and id = queued.id limit 1
        ) as row
      -- If a row is on another server, its part of a distributed transaction can be committed a moment later.
      where position >= location_position
      order by queue_id`;
    // If a row has moved again, the queue contains its later position, too.
    const currentIds = stored.filter(({ isCurrent }) => isCurrent).map(({ queueId }) => queueId);
    await tx`
      insert into all_changes (location_id, type, id, position, location_position)
      select location_id, type, change_id, ${feed.position} + row_number() over (order by id), location_position
      from unsequenced_changes where id = any(${currentIds}::bigint[])
      on conflict (location_id, type, id) do update set
        position = excluded.position, location_position = excluded.location_position`;
    await Promise.all([
      tx`delete from unsequenced_changes where id = any(${stored.map(({ queueId }) => queueId)}::bigint[])`,
      tx`update all_changes_position set position = ${feed.position + currentIds.length}`,
    ]);
    return stored.length;
  });
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

/**
 * Returns the rows that begin a page of the feed of all locations, and their positions in it. Omits rows whose position in
 * the feed of their location has changed, because the page of the later position contains them. Of a location that an
 * operator has removed, returns only the removal.
 */
export async function findRowsOfAllLocations(
  sql: SqlClient,
  { types, limit, ...range }: ChangeRowRange,
): Promise<FoundChangeRows> {
  // Each type is read with its index, so that a rare type needs no search through all others.
  const found = await sql<{ position: number; locationId: string; locationPosition: number }[]>`
    select row.position, row.location_id, row.location_position
    from unnest(${types}::text[]) as requested (type), lateral (
      select position, location_id, location_position from all_changes
      where type = requested.type and position >= ${range.position}
      order by position limit ${limit}
    ) as row
    order by position limit ${limit}`;
  const positions = found.map(({ position }) => position);
  if (positions.length === 0) return { positions, rows: [] };
  const selected = found.slice(0, limit - 1);
  const selectedPositions = positions.slice(0, limit - 1);
  const changes = sql`
    select sequenced.location_id, sequenced.position, change.* from unnest(
        ${selectedPositions}::bigint[], ${selected.map(({ locationId }) => locationId)}::uuid[],
        ${selected.map(({ locationPosition }) => locationPosition)}::bigint[]
      ) as sequenced (position, location_id, location_position),
      lateral (
        select type, id, ${selectChangeColumns(sql, range)} from changes
        where location_id = sequenced.location_id and position = sequenced.location_position limit 1
      ) as change
    union all
    select location_id, position, type, id, 'removed', removed_revision, removed_at, '{}', '{}', '{}' from all_changes
    where type = 'location' and removed_at is not null and position = any(${selectedPositions}::bigint[])`;
  return { positions, rows: await findEntriesOfRows(sql, changes, range) };
}
