import type { SqlClient, SqlFragment } from "../database/postgres.ts";
import type { EventStreamKind } from "./event-streams.ts";

export interface SentEvent {
  id: string;
  streamSequence: number;
  sentAt: Date;
}

/** Returns the slot of the current day, which is the partition of the events that are sent on it. */
const currentSlot = (sql: SqlClient) =>
  sql`extract(epoch from date_trunc('day', now() at time zone 'UTC'))::bigint / 86400 % 16`;

export async function moveToSentEvents(
  sql: SqlClient,
  stream: EventStreamKind,
  acknowledged: readonly { id: string; streamSequence: number }[],
): Promise<void> {
  if (acknowledged.length === 0) return;
  const ids = acknowledged.map(({ id }) => id);
  const sequences = acknowledged.map(({ streamSequence }) => streamSequence);
  await sql`
    with acknowledged as (
      select * from unnest(${ids}::uuid[], ${sequences}::bigint[]) as row (id, stream_sequence)
    ), sent as (
      delete from outbox using acknowledged where outbox.id = acknowledged.id
      returning outbox.*, stream_sequence
    )
    insert into sent_events (slot, stream, stream_sequence, id, position, type, location_id, body, sent_at)
    select ${currentSlot(sql)}, ${stream}, stream_sequence, id, position, type, location_id, body, now() from sent
    on conflict do nothing`;
}

/** Returns the sent event with the highest stream sequence up to `maxSequence`; undefined if there is none. */
export async function findLastSentEvent(
  sql: SqlClient,
  stream: EventStreamKind,
  maxSequence = Number.MAX_SAFE_INTEGER,
): Promise<SentEvent | undefined> {
  const [event] = await sql<SentEvent[]>`
    select id, stream_sequence, sent_at from sent_events
    where stream = ${stream} and stream_sequence <= ${maxSequence} order by stream_sequence desc limit 1`;
  return event;
}

/** Returns the lowest sequence of the sent events of a stream; `Infinity` if there are none. */
export async function findFirstSentSequence(sql: SqlClient, stream: EventStreamKind): Promise<number> {
  const [row] = await sql<{ sequence: number | null }[]>`
    select min(stream_sequence) as sequence from sent_events where stream = ${stream}`;
  return row?.sequence ?? Number.POSITIVE_INFINITY;
}

const requeueBatchSize = 500;

/** Moves events back to the outbox, the last first, so that a check finds the others after an interruption. */
export async function requeueSentEvents(
  sql: SqlClient,
  stream: EventStreamKind,
  condition: SqlFragment,
): Promise<number> {
  for (let total = 0; ; ) {
    const { count } = await sql`
      with batch as (
        select slot, stream_sequence, id from sent_events
        where stream = ${stream} and (${condition}) order by stream_sequence desc limit ${requeueBatchSize}
      ), lost as (
        delete from sent_events using batch
        where sent_events.stream = ${stream} and sent_events.slot = batch.slot and sent_events.id = batch.id
          and sent_events.stream_sequence = batch.stream_sequence
        returning sent_events.*
      ), requeued as (
        insert into outbox (id, position, type, location_id, body) overriding system value
        select id, position, type, location_id, body from lost
        on conflict do nothing
      )
      select from lost`;
    total += count;
    if (count < requeueBatchSize) return total;
  }
}

/** Removes the events that were sent longer ago than the retention, by whole days. */
export async function removeExpiredSentEvents(sql: SqlClient, retentionHours: number): Promise<void> {
  await sql`select remove_sent_events(now() - make_interval(hours => ${retentionHours}))`;
}
