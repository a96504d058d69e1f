import { randomUUID } from "node:crypto";
import { type EventData, type EventEnvelope, type EventType, eventDataSchemas } from "@pragma/contracts/events";
import { type Database, runAfterCommit, type SqlTransaction } from "../database/postgres.ts";
import { mergeJsonObjects, wrapInJsonObject } from "../json/join-json.ts";

interface EventToPublish<Type extends EventType> {
  /** The subject of the event, e.g. the till's id. */
  subject: string;
  data: EventData<Type>;
  /** Set when the same event may be published twice but must be handled once; a new id by default. */
  id?: string;
  /** The W3C trace context of the event's cause. */
  traceparent: string | undefined;
}

const notifyRelay = (database: Database) => database.onEventsPublished();

/** A NATS message has at most one mebibyte, including its headers. */
const maxEventBytes = 1024 * 1024 - 1024;

/**
 * Writes an event to the outbox in the transaction of its cause: it is sent at least once if, and only if, the
 * transaction commits. An id that was already published is ignored.
 *
 * @throws `Error` when the data does not match the schema of the event type, or is too large for a NATS message.
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

/** Does the same as `publishEvent` with data that is already validated JSON text. */
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
  // An event that the stream can never accept would be retried forever.
  if (Buffer.byteLength(body) > maxEventBytes) throw new Error(`The event ${type} exceeds ${maxEventBytes} bytes.`);
  await tx`
    insert into outbox ${tx({ id, type, locationId, body })}
    on conflict (id) do nothing`;
  runAfterCommit(tx, notifyRelay);
}
