import type { Database, SqlClient } from "../database/postgres.ts";

/** A message that could not be handled, kept until an operator has it tried again. */
export interface DeadLetter {
  eventId: string;
  subscription: string;
  /** What the event is about. */
  subject: string | null;
  type: string;
  body: string;
  reason: string;
  parkedAt: Date;
}

export async function insertDeadLetter(sql: SqlClient, deadLetter: Omit<DeadLetter, "parkedAt">): Promise<void> {
  await sql`
    insert into parked_messages ${sql(deadLetter)}
    on conflict (event_id, subscription) do update set reason = excluded.reason, parked_at = now()`;
}

export async function listDeadLetters({ sql }: Database): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`select * from parked_messages order by parked_at limit 1000`;
}

export async function findDeadLetters({ sql }: Database, eventId: string): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`select * from parked_messages where event_id = ${eventId}`;
}

export async function deleteDeadLetter({ sql }: Database, { eventId, subscription }: DeadLetter): Promise<void> {
  await sql`delete from parked_messages where event_id = ${eventId} and subscription = ${subscription}`;
}

/** Of the parked messages about a thing, none of this revision or a lower one is needed any more. */
export async function deleteOutdatedDeadLetters(
  sql: SqlClient,
  { subscription, subject, revision }: { subscription: string; subject: string; revision: number },
): Promise<void> {
  // Only of what is about the same thing is the body read: others need not be JSON.
  await sql`
    delete from parked_messages where subscription = ${subscription} and subject = ${subject}
      and case when subject = ${subject} then (body::jsonb #>> '{data,revision}')::bigint <= ${revision} end`;
}
