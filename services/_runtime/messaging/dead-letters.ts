import type { Database, SqlClient, SqlTransaction } from "../database/postgres.ts";

/** An event that could not be handled. Stored until a retry succeeds or a newer event makes this event obsolete. */
export interface DeadLetter {
  eventId: string;
  subscription: string;
  subject: string | null;
  type: string;
  body: string;
  reason: string;
  deadLetteredAt: Date;
}

export async function upsertDeadLetter(
  sql: SqlClient | SqlTransaction,
  deadLetter: Omit<DeadLetter, "deadLetteredAt">,
): Promise<void> {
  await sql`
    insert into dead_letters ${sql(deadLetter)}
    on conflict (event_id, subscription) do update set reason = excluded.reason, dead_lettered_at = now()`;
}

export async function listDeadLetters({ sql }: Database): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`select * from dead_letters order by dead_lettered_at limit 1000`;
}

export async function findDeadLettersOfEvent({ sql }: Database, eventId: string): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`select * from dead_letters where event_id = ${eventId}`;
}

export async function deleteDeadLetter(tx: SqlTransaction, { eventId, subscription }: DeadLetter): Promise<void> {
  await tx`delete from dead_letters where event_id = ${eventId} and subscription = ${subscription}`;
}

/** Deletes the dead letters about a subject up to a revision, because a newer event makes them obsolete. */
export async function deleteSupersededDeadLetters(
  sql: SqlClient,
  { subscription, subject, revision }: { subscription: string; subject: string; revision: number },
): Promise<void> {
  // Without `case`, PostgreSQL might parse the bodies of other dead letters too, and fail because of invalid JSON.
  await sql`
    delete from dead_letters where subscription = ${subscription} and subject = ${subject}
      and case when subject = ${subject} then (body::jsonb #>> '{data,revision}')::bigint <= ${revision} end`;
}
