import type { Database, SqlClient } from "../database/postgres.ts";

/** An event that could not be handled, stored until an operator retries it. */
export interface DeadLetter {
  eventId: string;
  subscription: string;
  /** The subject of the event, e.g. the till's id. */
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

/** Deletes the dead letters about a subject with this revision or a lower one, which a newer event has superseded. */
export async function deleteOutdatedDeadLetters(
  sql: SqlClient,
  { subscription, subject, revision }: { subscription: string; subject: string; revision: number },
): Promise<void> {
  // The case expression parses only bodies about the same subject, because others may be invalid JSON.
  await sql`
    delete from parked_messages where subscription = ${subscription} and subject = ${subject}
      and case when subject = ${subject} then (body::jsonb #>> '{data,revision}')::bigint <= ${revision} end`;
}
