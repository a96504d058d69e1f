import type { Database, SqlClient, SqlFragment, SqlTransaction } from "../database/postgres.ts";

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

/** A dead letter without its body, which can be large. */
export interface DeadLetterRow extends Omit<DeadLetter, "eventId" | "body" | "deadLetteredAt"> {
  id: string;
  locationId: string | null;
  createdAt: Date;
}

/** Returns the parts of a query for a page of dead letters. The bodies are searched as text, because they can be invalid. */
export function buildDeadLetterListSql(sql: SqlClient): Record<"columns" | "table" | "where", SqlFragment> {
  return {
    columns: sql`id, type, subscription, subject, location_id, reason, created_at`,
    table: sql`(
      select event_id as id, type, subscription, subject, reason,
        substring(body from '"locationId": ?"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"') as location_id,
        date_trunc('milliseconds', dead_lettered_at) as created_at
      from dead_letters) as listed`,
    where: sql`true`,
  };
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
