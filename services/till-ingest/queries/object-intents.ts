import { randomUUID } from "node:crypto";
import type { Sql, Transaction } from "@pragma/runtime/postgres";

const isStale = (sql: Sql) => sql`created_at < now() - interval '24 hours'`;
const isReferred = (sql: Sql | Transaction) => sql`
  exists (select 1 from till_versions where object_key = object_intents.key and body_removed_at is null)`;

/**
 * Records that an object is about to be written.
 *
 * @returns the key to write it under: another one while the object of this key is being removed.
 */
export async function intend(sql: Sql, key: string): Promise<string> {
  const { count } = await sql`
    insert into object_intents ${sql({ key })}
    on conflict (key) do update set created_at = now() where object_intents.removing_since is null`;
  return count > 0 ? key : intend(sql, `${key}-${randomUUID()}`);
}

/** The object belongs to a till now, unless another of the same content does: that one is an orphan. */
export async function settleIntent(tx: Transaction, key: string): Promise<void> {
  await tx`delete from object_intents where key = ${key} and ${isReferred(tx)}`;
}

/** Keys that were to be written more than a day ago and were not settled since. */
export async function listStaleIntents(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from object_intents where ${isStale(sql)} order by created_at limit ${limit}`;
  return rows.map(({ key }) => key);
}

/** Has no one write under this key any more; false when somebody does, or a till refers to its object. */
export async function beginRemoval(sql: Sql, key: string): Promise<boolean> {
  const { count } = await sql`
    update object_intents set removing_since = now()
    where key = ${key} and ${isStale(sql)} and not ${isReferred(sql)}`;
  return count > 0;
}

/** The object is gone, or belongs to a till after all. */
export async function endRemoval(sql: Sql, key: string): Promise<void> {
  await sql`
    delete from object_intents
    where key = ${key} and ${isStale(sql)} and (removing_since is not null or ${isReferred(sql)})`;
}
