import { randomUUID } from "node:crypto";
import {
  type BusEventData,
  type BusEventType,
  busEventDataSchemas,
  type EventEnvelope,
} from "@pragma/contracts/events";
import { type Database, runAfterCommit, type SqlTransaction } from "../database/postgres.ts";
import { joinJsonObjectTexts, wrapJsonTextInObject } from "../json/join-json.ts";
import { type LocationOrderIds, redactPersonalDataInJson } from "./erased-orders.ts";
import { type EventStreamKind, getEventStreamKind } from "./event-streams.ts";

interface EventToPublish<Type extends BusEventType> {
  /** The subject of the event, such as the id of a till. */
  subject: string;
  data: BusEventData<Type>;
  /** The id of the event. Defaults to a new id. Set it if the event may be published twice but must be handled once. */
  id?: string;
  /** The W3C trace context of the request or event that caused this event. */
  traceparent: string | undefined;
}

/** The callbacks that notify the relay of new events of a stream. A transaction calls each of them once. */
const notifyRelay: Record<EventStreamKind, (database: Database) => void> = {
  tills: (database) => database.onEventsPublished("tills"),
  orders: (database) => database.onEventsPublished("orders"),
};

/** Maximum size of an event, in bytes. NATS accepts messages of up to 1 MiB, of which 1 KiB is reserved for headers. */
const maxEventBytes = 1024 * 1024 - 1024;

/**
 * Writes an event to the outbox, from which it is sent at least once after the commit, unless the outbox contains its
 * id. @throws `Error` when the data does not match the schema of the type, or is too large for a NATS message.
 */
export async function writeEventToOutbox<Type extends BusEventType>(
  tx: SqlTransaction,
  type: Type,
  { data, ...event }: EventToPublish<Type>,
): Promise<void> {
  const text = JSON.stringify(busEventDataSchemas[type].parse(data));
  await writeEventJsonToOutbox(tx, type, { ...event, locationId: data.locationId, data: text });
}

interface EventJsonToPublish extends Omit<EventToPublish<BusEventType>, "data"> {
  locationId: string | null;
  data: string;
}

/** Publishes an event as `writeEventToOutbox` does. The data must already be validated and serialized. */
export async function writeEventJsonToOutbox(
  tx: SqlTransaction,
  type: BusEventType,
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
  const body = joinJsonObjectTexts(JSON.stringify(head), wrapJsonTextInObject("data", data));
  // Rejects the event here, because NATS never accepts it and the relay would retry forever.
  if (Buffer.byteLength(body) > maxEventBytes) throw new Error(`The event ${type} exceeds ${maxEventBytes} bytes.`);
  await tx`
    insert into outbox ${tx({ id, type, locationId, body })}
    on conflict (id) do nothing`;
  runAfterCommit(tx, notifyRelay[getEventStreamKind(type)]);
}

/** Redacts the personal data in the events of these orders that the outbox contains. */
export async function redactUnsentOrderEvents(
  tx: SqlTransaction,
  { locationId, orderIds }: LocationOrderIds,
): Promise<void> {
  const rows = await tx<{ id: string; body: string }[]>`
    select id, body from outbox
    where type like 'order.%' and location_id = ${locationId}
      and (body::json ->> 'subject')::uuid = any(${orderIds as string[]}::uuid[])`;
  for (const { id, body } of rows)
    await tx`update outbox set body = ${redactPersonalDataInJson(body)} where id = ${id}`;
}
