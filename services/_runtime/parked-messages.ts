import type { Database, Sql } from "./postgres.ts";

/** A message that could not be handled, kept until an operator has it tried again. */
export interface ParkedMessage {
  event_id: string;
  subscription: string;
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
