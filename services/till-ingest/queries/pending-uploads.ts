import { randomUUID } from "node:crypto";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { addUniquePartToObjectKey, toCompressedObjectKey } from "@pragma/runtime/object-store/object-store";
import type { TillRow } from "./tills.ts";

/** Returns the object key of a till body: its location, one of 256 folders, and its SHA-256 hash. */
export function buildTillObjectKey({ locationId, hash }: Pick<TillRow, "locationId" | "hash">): string {
  return toCompressedObjectKey(`tills/${locationId}/${hash.slice(0, 2)}/${hash}`);
}

/** Returns the id of the location that the key of a till body contains. @throws `Error` for another key. */
function getLocationIdOfTillObjectKey(key: string): string {
  const [folder, locationId] = key.split("/");
  if (folder !== "tills" || locationId === undefined) throw new Error(`${key} is not the key of a till body.`);
  return locationId;
}

const isStale = (sql: SqlClient) => sql`created_at < now() - interval '24 hours'`;
const isReferenced = (sql: SqlClient | SqlTransaction, key: string) => sql`
  exists (
    select 1 from till_versions
    where location_id = ${getLocationIdOfTillObjectKey(key)} and object_key = ${key} and body_removed_at is null
  )`;

/** Records that an object will be written, and returns its key: another one if the given one is being removed. */
export async function recordPendingUpload(sql: SqlClient, key: string): Promise<string> {
  const { count } = await sql`
    insert into pending_uploads ${sql({ key })}
    on conflict (key) do update set created_at = now() where pending_uploads.removal_claimed_at is null`;
  return count > 0 ? key : recordPendingUpload(sql, addUniquePartToObjectKey(key, randomUUID()));
}

/** Ends the pending upload of an object if a till refers to the object. Otherwise, the object can still be removed. */
export async function confirmTillObjectUpload(tx: SqlTransaction, key: string): Promise<void> {
  await tx`delete from pending_uploads where key = ${key} and ${isReferenced(tx, key)}`;
}

/**
 * Records objects as uploads of this age, which are removed at the age of a day unless a till has them. Returns the
 * keys.
 */
export async function scheduleObjectRemoval(
  tx: SqlTransaction,
  keys: string[],
  { ageHours }: { ageHours: number },
): Promise<string[]> {
  const distinctKeys = [...new Set(keys)];
  await tx`
    insert into pending_uploads (key, created_at)
    select key, now() - make_interval(hours => ${ageHours}) from unnest(${distinctKeys}::text[]) as gone (key)
    on conflict (key) do nothing`;
  return distinctKeys;
}

/** Returns the keys of uploads that started more than a day ago and were never confirmed, oldest first. */
export async function listStaleTillUploadKeys(sql: SqlClient, limit: number): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from pending_uploads where ${isStale(sql)} order by created_at limit ${limit}`;
  return rows.map(({ key }) => key);
}

/** A claim (lease) to remove an object. Only one process at a time can claim an object. */
export interface ObjectRemovalClaim {
  key: string;
  /** Start of this claim. It distinguishes the claim from other claims of the same key. */
  since: string;
  /** Whether an earlier claim of the key expired. The process with that claim may still delete the object. */
  isTakenOver: boolean;
}

/**
 * Claims the removal of an object, so that no push writes under its key, unless its upload started in the last day, or
 * a till refers to it. A claim lasts 30 minutes: much longer than a deletion, but shorter than the hour between two
 * runs of the task.
 */
export async function claimObjectRemoval(sql: SqlClient, key: string): Promise<ObjectRemovalClaim | undefined> {
  const [removal] = await sql<ObjectRemovalClaim[]>`
    update pending_uploads set removal_claimed_at = now()
    from (
      select key, removal_claimed_at is not null as is_taken_over from pending_uploads
      where key = ${key} and ${isStale(sql)} and not ${isReferenced(sql, key)}
        and (removal_claimed_at is null or removal_claimed_at < now() - interval '30 minutes')
      for update
    ) before
    where pending_uploads.key = before.key
    returning before.key, removal_claimed_at::text as since, is_taken_over`;
  return removal;
}

/**
 * Records that the object was deleted, so that pushes may use the key again. If an earlier claim of the key expired,
 * the key is never used or listed again, because that process may still delete the object. Does nothing if another
 * process has claimed the object since.
 */
export async function recordStoredObjectDeletion(
  sql: SqlClient,
  { key, since, isTakenOver }: ObjectRemovalClaim,
): Promise<void> {
  const isHeldClaim = sql`key = ${key} and removal_claimed_at = ${since}::text::timestamptz`;
  if (isTakenOver) await sql`update pending_uploads set created_at = 'infinity' where ${isHeldClaim}`;
  else await sql`delete from pending_uploads where ${isHeldClaim}`;
}

/** Ends the pending upload of an object if it started more than a day ago and a till refers to the object. */
export async function confirmOverdueUpload(sql: SqlClient, key: string): Promise<void> {
  await sql`delete from pending_uploads where key = ${key} and ${isStale(sql)} and ${isReferenced(sql, key)}`;
}
