import { randomUUID } from "node:crypto";
import type { EventData, EventType } from "@pragma/contracts/events";
import { envelopeOf } from "./event-envelope.ts";
import { markPublishing, type Transaction } from "./postgres.ts";
import { currentTraceparent } from "./request-context.ts";

interface Publication<Type extends EventType> {
  /** What the event is about, e.g. the till's id. */
  subject: string;
  data: EventData<Type>;
  /** Given when the same fact may be told twice and must count once; a fresh one otherwise. */
  id?: string;
}

/**
 * Writes an event in the transaction of its cause: it is sent if, and only if, the transaction commits, and at least
 * once, however often processes die in between. The same id twice is the same event.
 */
export async function publish<Type extends EventType>(
  tx: Transaction,
  type: Type,
  { subject, data, id = randomUUID() }: Publication<Type>,
): Promise<void> {
  const envelope = envelopeOf(type, { id, subject, data, traceparent: currentTraceparent() });
  await tx`
    insert into outbox ${tx({ id, type, location_id: data.locationId, body: JSON.stringify(envelope) })}
    on conflict (id) do nothing`;
  markPublishing(tx);
}
