import type { Database, Sql } from "./postgres.ts";

/** A message that could not be handled, kept until an operator has it tried again. */
export interface ParkedMessage {
  event_id: string;
  subscription: string;
  /** What the event is about. */
  subject: string | null;
  type: string;
  body: string;
  reason: string;
  parked_at: Date;
}

export async function park(sql: Sql, message: Omit<ParkedMessage, "parked_at">): Promise<void> {
  await sql`
    insert into parked_messages ${sql(message)}
    on conflict (event_id, subscription) do update set reason = excluded.reason, parked_at = now()`;
}

export async function listParked({ sql }: Database): Promise<ParkedMessage[]> {
  return sql<ParkedMessage[]>`select * from parked_messages order by parked_at limit 1000`;
}

export async function findParked({ sql }: Database, eventId: string): Promise<ParkedMessage[]> {
  return sql<ParkedMessage[]>`select * from parked_messages where event_id = ${eventId}`;
}

export async function unpark({ sql }: Database, { event_id, subscription }: ParkedMessage): Promise<void> {
  await sql`delete from parked_messages where event_id = ${event_id} and subscription = ${subscription}`;
}

/** Takes away the messages about a thing that a later one has made moot. */
export async function unparkSuperseded(
  sql: Sql,
  { subscription, subject }: { subscription: string; subject: string },
): Promise<void> {
  await sql`delete from parked_messages where subscription = ${subscription} and subject = ${subject}`;
}

type Attempt = Pick<ParkedMessage, "event_id" | "subscription">;

/** Notes that an event is about to be handled again, and tells how often that came to no end. */
export async function noteAttempt(sql: Sql, attempt: Attempt): Promise<number> {
  const [row] = await sql<{ tries: number }[]>`
    insert into handling_attempts ${sql(attempt)}
    on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()
    returning tries`;
  return row?.tries ?? 0;
}

/** The handling came to an end, good or bad. */
export async function settleAttempt(sql: Sql, { event_id, subscription }: Attempt): Promise<void> {
  await sql`delete from handling_attempts where event_id = ${event_id} and subscription = ${subscription}`;
}
