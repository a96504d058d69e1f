import type { Database, Sql } from "./postgres.ts";

/** A message that could not be handled, kept until an operator has it tried again. */
export interface ParkedMessage {
  eventId: string;
  subscription: string;
  /** What the event is about. */
  subject: string | null;
  type: string;
  body: string;
  reason: string;
  parkedAt: Date;
}

export async function park(sql: Sql, message: Omit<ParkedMessage, "parkedAt">): Promise<void> {
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

export async function unpark({ sql }: Database, { eventId, subscription }: Attempt): Promise<void> {
  await sql`delete from parked_messages where event_id = ${eventId} and subscription = ${subscription}`;
}

/** Of the parked messages about a thing, none of this revision or a lower one is needed any more. */
export async function unparkRevisions(
  sql: Sql,
  { subscription, subject, revision }: { subscription: string; subject: string; revision: number },
): Promise<void> {
  // Only of what is about the same thing is the body read: others need not be JSON.
  await sql`
    delete from parked_messages where subscription = ${subscription} and subject = ${subject}
      and case when subject = ${subject} then (body::jsonb #>> '{data,revision}')::bigint <= ${revision} end`;
}

/** An event that a subscription handles. */
export type Attempt = Pick<ParkedMessage, "eventId" | "subscription">;

/** How often an event was begun and came to no end, of the times that are recorded: those after its first delivery. */
export async function countUnfinished(sql: Sql, { eventId, subscription }: Attempt): Promise<number> {
  const [row] = await sql<{ tries: number }[]>`
    select tries from handling_attempts where event_id = ${eventId} and subscription = ${subscription}`;
  return row?.tries ?? 0;
}

/** Records that an event is about to be handled. */
export async function recordAttempt(sql: Sql, attempt: Attempt): Promise<void> {
  await sql`
    insert into handling_attempts ${sql(attempt)}
    on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()`;
}

/** The handling came to an end, good or bad. */
export async function settleAttempt(sql: Sql, { eventId, subscription }: Attempt): Promise<void> {
  await sql`delete from handling_attempts where event_id = ${eventId} and subscription = ${subscription}`;
}

/** The handling of these is broken off on purpose, which says nothing against them. */
export async function withdrawAttempts(sql: Sql, subscription: string, eventIds: string[]): Promise<void> {
  await sql`
    update handling_attempts set tries = tries - 1
    where event_id = any(${eventIds}::uuid[]) and subscription = ${subscription}`;
}
