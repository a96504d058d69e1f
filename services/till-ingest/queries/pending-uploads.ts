import { randomUUID } from "node:crypto";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

const isStale = (sql: SqlClient) => sql`created_at < now() - interval '24 hours'`;
const isReferenced = (sql: SqlClient | SqlTransaction) => sql`
  exists (select 1 from till_versions where object_key = object_intents.key and body_removed_at is null)`;

/**
 * Records that an object is about to be written.
 *
 * @returns the key to write it under: another one while the object of this key is being removed.
 */
export async function recordPendingUpload(sql: SqlClient, key: string): Promise<string> {
  const { count } = await sql`
    insert into object_intents ${sql({ key })}
    on conflict (key) do update set created_at = now() where object_intents.removing_since is null`;
  return count > 0 ? key : recordPendingUpload(sql, `${key}-${randomUUID()}`);
}

/** The object belongs to a till now, unless another of the same content does: that one is an orphan. */
export async function confirmUpload(tx: SqlTransaction, key: string): Promise<void> {
  await tx`delete from object_intents where key = ${key} and ${isReferenced(tx)}`;
}

/** Keys that were to be written more than a day ago and were not settled since. */
export async function listStaleUploads(sql: SqlClient, limit: number): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from object_intents where ${isStale(sql)} order by created_at limit ${limit}`;
  return rows.map(({ key }) => key);
}

/** The right to remove an object, which one at a time has. */
export interface ObjectRemoval {
  key: string;
  /** Tells it from the removals of this key that others began. */
  since: string;
  /** Whoever began before did not come to an end, and may yet remove what is under the key. */
  isTakenOver: boolean;
}

/**
 * Has no one write under this key any more; undefined when somebody does, a till refers to its object, or another began
 * to remove it in the last half hour. That is far longer than a store takes, and shorter than from one turn to the next.
 */
export async function claimObjectRemoval(sql: SqlClient, key: string): Promise<ObjectRemoval | undefined> {
  const [removal] = await sql<ObjectRemoval[]>`
    update object_intents set removing_since = now()
    from (
      select key, removing_since is not null as is_taken_over from object_intents
      where key = ${key} and ${isStale(sql)} and not ${isReferenced(sql)}
        and (removing_since is null or removing_since < now() - interval '30 minutes')
      for update
    ) before
    where object_intents.key = before.key
    returning before.key, removing_since::text as since, is_taken_over`;
  return removal;
}

/**
 * The object is gone, and the key may be written under again. One that was taken over never is, nor is it listed again:
 * the removal that began first may come late. Nothing happens when another has taken over this one.
 */
export async function finishObjectRemoval(sql: SqlClient, { key, since, isTakenOver }: ObjectRemoval): Promise<void> {
  const isHeldClaim = sql`key = ${key} and removing_since = ${since}::text::timestamptz`;
  if (isTakenOver) await sql`update object_intents set created_at = 'infinity' where ${isHeldClaim}`;
  else await sql`delete from object_intents where ${isHeldClaim}`;
}

/** The object belongs to a till after all. */
export async function confirmStaleUpload(sql: SqlClient, key: string): Promise<void> {
  await sql`delete from object_intents where key = ${key} and ${isStale(sql)} and ${isReferenced(sql)}`;
}
