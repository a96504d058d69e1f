import { randomUUID } from "node:crypto";
import { type EventData, type EventEnvelope, type EventType, eventCatalogue } from "@pragma/contracts/events";
import { joinObjects, objectOf } from "./join-json.ts";
import { afterCommit, type Database, type Transaction } from "./postgres.ts";

interface Publication<Type extends EventType> {
  /** What the event is about, e.g. the till's id. */
  subject: string;
  data: EventData<Type>;
  /** Given when the same fact may be told twice and must count once; a fresh one otherwise. */
  id?: string;
  /** Of its cause (W3C): the event is a part of that trace. */
  traceparent: string | undefined;
}

const tellRelay = (database: Database) => database.onPublished();

/** A message of NATS has a mebibyte at most, its headers included. */
const maxEventBytes = 1024 * 1024 - 1024;

/**
 * Writes an event in the transaction of its cause: it is sent if, and only if, the transaction commits, and at least
 * once, however often processes die in between. The same id twice is the same event.
 * Throws when it is too large for a message of the bus.
 */
export async function publish<Type extends EventType>(
  tx: Transaction,
  type: Type,
  publication: Publication<Type>,
): Promise<void> {
  const { data, ...head } = envelopeOf(type, publication);
  await insertEvent(tx, head, { locationId: publication.data.locationId, data: JSON.stringify(data) });
}

/** The same with data that is JSON text already, and as the catalogue says. */
export async function publishText(
  tx: Transaction,
  type: EventType,
  { data, locationId, ...head }: Omit<Publication<EventType>, "data"> & { data: string; locationId: string },
): Promise<void> {
  await insertEvent(tx, headOf(type, head), { locationId, data });
}

async function insertEvent(
  tx: Transaction,
  head: Omit<EventEnvelope, "data">,
  { locationId, data }: { locationId: string | null; data: string },
): Promise<void> {
  const { id, type } = head;
  const body = joinObjects(JSON.stringify(head), objectOf("data", data));
  // One that the stream can never take would be tried for ever.
  if (Buffer.byteLength(body) > maxEventBytes)
    throw new Error(`The event ${type} has more than ${maxEventBytes} bytes.`);
  await tx`
    insert into outbox ${tx({ id, type, locationId, body })}
    on conflict (id) do nothing`;
  afterCommit(tx, tellRelay);
}

/** An event as it travels, of this moment. Throws when its data is not as the catalogue says. */
export function envelopeOf<Type extends EventType>(type: Type, { data, ...head }: Publication<Type>): EventEnvelope {
  return { ...headOf(type, head), data: eventCatalogue[type].parse(data) };
}

function headOf(
  type: EventType,
  { id = randomUUID(), subject, traceparent }: Omit<Publication<EventType>, "data">,
): Omit<EventEnvelope, "data"> {
  return {
    specversion: "1.0",
    id,
    type,
    source: "/pragma",
    time: new Date().toISOString(),
    subject,
    ...(traceparent && { traceparent }),
  };
}
