import { randomUUID } from "node:crypto";
import { type EventData, type EventEnvelope, type EventType, eventDataSchemas } from "@pragma/contracts/events";
import { type Database, runAfterCommit, type SqlTransaction } from "../database/postgres.ts";
import { mergeJsonObjects, wrapInJsonObject } from "../json/join-json.ts";

interface EventToPublish<Type extends EventType> {
  /** What the event is about, e.g. the till's id. */
  subject: string;
  data: EventData<Type>;
  /** Given when the same fact may be told twice and must count once; a fresh one otherwise. */
  id?: string;
  /** Of its cause (W3C): the event is a part of that trace. */
  traceparent: string | undefined;
}

const notifyRelay = (database: Database) => database.onEventsPublished();

/** A message of NATS has a mebibyte at most, its headers included. */
const maxEventBytes = 1024 * 1024 - 1024;

/**
 * Writes an event in the transaction of its cause: it is sent if, and only if, the transaction commits, and at least
 * once, however often processes die in between. The same id twice is the same event.
 * Throws when its data is not as the catalogue says, or too large for a message of the bus.
 */
export async function publishEvent<Type extends EventType>(
  tx: SqlTransaction,
  type: Type,
  { data, ...event }: EventToPublish<Type>,
): Promise<void> {
  const text = JSON.stringify(eventDataSchemas[type].parse(data));
  await publishEventJson(tx, type, { ...event, locationId: data.locationId, data: text });
}

interface EventJsonToPublish extends Omit<EventToPublish<EventType>, "data"> {
  locationId: string | null;
  data: string;
}

/** The same with data that is JSON text already, and as the catalogue says. */
export async function publishEventJson(
  tx: SqlTransaction,
  type: EventType,
  { id = randomUUID(), subject, locationId, data, traceparent }: EventJsonToPublish,
): Promise<void> {
  const head: Omit<EventEnvelope, "data"> = {
    specversion: "1.0",
    id,
    type,
    source: "/pragma",
    time: new Date().toISOString(),
    subject,
    ...(traceparent && { traceparent }),
  };
  const body = mergeJsonObjects(JSON.stringify(head), wrapInJsonObject("data", data));
  // One that the stream can never take would be tried for ever.
  if (Buffer.byteLength(body) > maxEventBytes)
    throw new Error(`The event ${type} has more than ${maxEventBytes} bytes.`);
  await tx`
    insert into outbox ${tx({ id, type, locationId, body })}
    on conflict (id) do nothing`;
  runAfterCommit(tx, notifyRelay);
}
