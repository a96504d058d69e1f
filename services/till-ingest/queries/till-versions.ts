import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillRow } from "./tills.ts";

/**
 * What created a revision: the first push of the till, a replacement of its body, or a reprocessing of the current
 * body.
 */
export type TillRevisionReason = BusEventData<"till.pushed">["reason"];

/** Inserts the row of a till's current revision, with its author. */
export async function insertTillRevision(
  tx: SqlTransaction,
  { id, revision, format, hash, objectKey, size }: TillRow,
  { reason, keyId, consumer }: { reason: TillRevisionReason; keyId: string; consumer: string },
): Promise<void> {
  const row = { tillId: id, revision, reason, format, hash, objectKey, size, keyId, consumer };
  await tx`insert into till_versions ${tx(row)}`;
}

/** Returns the reasons of the current revisions of these tills, by till id. */
export async function findCurrentTillRevisionReasons(
  tx: SqlTransaction,
  tillIds: string[],
): Promise<Map<string, TillRevisionReason>> {
  const rows = await tx<{ tillId: string; reason: TillRevisionReason }[]>`
    select till_versions.till_id, till_versions.reason
    from till_versions join tills on tills.id = till_versions.till_id and tills.revision = till_versions.revision
    where tills.id = any(${tillIds}::uuid[])`;
  return new Map(rows.map(({ tillId, reason }) => [tillId, reason]));
}

/**
 * Marks every body of a till except the given one as removed, and schedules the removal of their objects. Returns the
 * keys of these objects.
 */
export async function scheduleOtherTillBodyRemoval(
  tx: SqlTransaction,
  { tillId, objectKey }: { tillId: string; objectKey: string },
): Promise<string[]> {
  const removed = await tx<{ objectKey: string }[]>`
    update till_versions set body_removed_at = now()
    where till_id = ${tillId} and object_key <> ${objectKey} and body_removed_at is null returning object_key`;
  return scheduleObjectRemoval(tx, removed);
}

/**
 * Marks up to `limit` replaced bodies as removed, and schedules the removal of their objects. Selects bodies that were
 * stored at least `days` days ago, of tills that were last replaced at least `days` days ago. Returns the keys of the
 * objects.
 */
export async function scheduleReplacedTillBodyRemovals(
  tx: SqlTransaction,
  { days, limit }: { days: number; limit: number },
): Promise<string[]> {
  const removed = await tx<{ objectKey: string }[]>`
    update till_versions v set body_removed_at = now()
    from (
      select old.till_id, old.revision from till_versions old join tills on tills.id = old.till_id
      where old.body_removed_at is null and old.object_key <> tills.object_key
        and old.created_at < now() - make_interval(days => ${days})
        and tills.updated_at < now() - make_interval(days => ${days})
      order by old.created_at limit ${limit} for update of old skip locked
    ) stale
    where v.till_id = stale.till_id and v.revision = stale.revision returning v.object_key`;
  return scheduleObjectRemoval(tx, removed);
}

/** Records the objects as stale uploads, so that they are removed once no till refers to them. Returns their keys. */
async function scheduleObjectRemoval(tx: SqlTransaction, removed: { objectKey: string }[]): Promise<string[]> {
  const keys = [...new Set(removed.map(({ objectKey }) => objectKey))];
  await tx`
    insert into pending_uploads (key, created_at)
    select key, now() - interval '25 hours' from unnest(${keys}::text[]) as gone (key)
    on conflict (key) do nothing`;
  return keys;
}

/** A body that is not compressed, and the location and hash that its new key is built from. */
export interface UncompressedTillBody {
  objectKey: string;
  locationId: string;
  hash: string;
}

const isUncompressed = (sql: SqlClient | SqlTransaction) => sql`
  version.body_removed_at is null and version.object_key not like '%.br'`;

/**
 * Returns up to `limit` bodies that are not compressed, oldest first. Omits bodies of tills that wait for their report,
 * because an event with the body's present key is being processed.
 */
export async function listUncompressedTillBodies(
  sql: SqlClient,
  { skippedKeys, limit }: { skippedKeys: string[]; limit: number },
): Promise<UncompressedTillBody[]> {
  return sql<UncompressedTillBody[]>`
    select distinct on (version.created_at, version.object_key) version.object_key, location_id, version.hash
    from till_versions version join tills on tills.id = version.till_id
    where ${isUncompressed(sql)} and next_requeue_at is null and version.object_key <> all(${skippedKeys}::text[])
    order by version.created_at limit ${limit}`;
}

/** Returns how many revisions have a body that is not compressed, counted up to `limit`. */
export async function countUncompressedTillBodies(sql: SqlClient, limit: number): Promise<number> {
  const rows = await sql`select 1 from till_versions version where ${isUncompressed(sql)} limit ${limit}`;
  return rows.length;
}

/** Makes all tills and revisions refer to another object with the same body. */
export async function moveTillBodyReferences(
  tx: SqlTransaction,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const moved = await tx<{ tillId: string }[]>`
    update till_versions set object_key = ${to} where object_key = ${from} and body_removed_at is null
    returning till_id`;
  const tillIds = [...new Set(moved.map(({ tillId }) => tillId))];
  await tx`update tills set object_key = ${to} where id = any(${tillIds}::uuid[]) and object_key = ${from}`;
}
