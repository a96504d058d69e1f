import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { type EventData, type EventType, eventCatalogue } from "@pragma/contracts/events";
import { readEnvelope } from "../handle-event.ts";
import type { TestEnvironment } from "./test-environment.ts";

/** The events of a type in a test's stream that are about something, oldest first. */
export async function sentEvents<Type extends EventType>(
  { variables, namespace }: TestEnvironment,
  type: Type,
  subject: string,
): Promise<EventData<Type>[]> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  try {
    const manager = await jetstreamManager(connection);
    const stream = `${namespace}_events`;
    const { state } = await manager.streams.info(stream);
    const found: EventData<Type>[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(stream, { seq });
      const envelope = message && readEnvelope(message.string());
      if (envelope?.type !== type || envelope.subject !== subject) continue;
      found.push(eventCatalogue[type].parse(envelope.data) as EventData<Type>);
    }
    return found;
  } finally {
    await connection.close();
  }
}
