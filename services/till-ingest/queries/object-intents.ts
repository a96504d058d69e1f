import type { Sql, Transaction } from "@pragma/runtime/postgres";

/** Notes that an object is about to be written. Waits while `remove-orphans` is removing one of this key. */
export async function intend(sql: Sql, key: string): Promise<void> {
  await sql`
    insert into object_intents ${sql({ key })}
    on conflict (key) do update set created_at = now()`;
}

/** The object belongs to a till, or is gone: nothing is intended any more. */
export async function settleIntent(tx: Transaction, key: string): Promise<void> {
  await tx`delete from object_intents where key = ${key}`;
}

/** Keys that were to be written more than a day ago and were not settled since. */
export async function listStaleIntents(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from object_intents where created_at < now() - interval '24 hours' order by created_at limit ${limit}`;
  return rows.map(({ key }) => key);
}

/** Locks a stale intent, so that nobody begins to write its object; undefined when it is no longer stale. */
export async function lockStaleIntent(tx: Transaction, key: string): Promise<{ isReferred: boolean } | undefined> {
  const [locked] = await tx`
    select 1 from object_intents
    where key = ${key} and created_at < now() - interval '24 hours'
    for update skip locked`;
  if (!locked) return undefined;
  const [row] = await tx<{ is_referred: boolean }[]>`
    select exists (
      select 1 from till_versions where object_key = ${key} and body_removed_at is null
    ) as is_referred`;
  return { isReferred: row?.is_referred ?? true };
}
