import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import {
  type BusEventData,
  type BusEventType,
  busEventDataSchemas,
  type EventEnvelope,
} from "@pragma/contracts/events";
import { parseEventEnvelope } from "../messaging/handle-event.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";

/** Returns all events in the event stream of a test, oldest first. */
export async function listPublishedTestEventEnvelopes({
  variables,
  namespace,
}: IsolatedTestEnvironment): Promise<EventEnvelope[]> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  try {
    const manager = await jetstreamManager(connection);
    const stream = `${namespace}_events`;
    const { state } = await manager.streams.info(stream);
    const envelopes: EventEnvelope[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message) envelopes.push(parseEventEnvelope(message.string()));
    }
    return envelopes;
  } finally {
    await connection.close();
  }
}

/** Returns the data of all events of a type about a subject, oldest first, from the event stream of a test. */
export async function listPublishedTestEvents<Type extends BusEventType>(
  environment: IsolatedTestEnvironment,
  type: Type,
  subject: string,
): Promise<BusEventData<Type>[]> {
  return (await listPublishedTestEventEnvelopes(environment))
    .filter((envelope) => envelope.type === type && envelope.subject === subject)
    .map(({ data }) => busEventDataSchemas[type].parse(data) as BusEventData<Type>);
}
