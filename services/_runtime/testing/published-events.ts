import { type JetStreamManager, jetstreamManager, type StreamState } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import {
  type BusEventData,
  type BusEventType,
  busEventDataSchemas,
  type EventEnvelope,
} from "@pragma/contracts/events";
import { buildEventStreamNames, isMissingInJetStream } from "../messaging/event-streams.ts";
import { parseEventEnvelope } from "../messaging/handle-event.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";

/** Returns whether a message in a stream is a rollback notice, and not an event. */
const isRollbackNoticeSubject = (subject: string): boolean => /\.stream-rollback\.[^.]+$/.test(subject);

/** Returns all events in the event streams of a test: those of each stream, oldest first. */
export async function listPublishedTestEventEnvelopes({
  variables,
  namespace,
}: IsolatedTestEnvironment): Promise<EventEnvelope[]> {
  const connection = await connect({ servers: variables.NATS_URL ?? "" });
  try {
    const manager = await jetstreamManager(connection);
    const envelopes: EventEnvelope[] = [];
    for (const stream of Object.values(buildEventStreamNames(namespace))) {
      const state = await readStreamState(manager, stream);
      // In a stream that has never contained a message, both numbers are 0.
      if (!state || state.messages === 0) continue;
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await manager.streams.getMessage(stream, { seq });
        // A service announces there that it publishes lost events again, for example after a test has deleted the stream.
        if (message && !isRollbackNoticeSubject(message.subject)) envelopes.push(parseEventEnvelope(message.string()));
      }
    }
    return envelopes;
  } finally {
    await connection.close();
  }
}

/** Returns the state of a stream; undefined if no service of the test has created it. */
async function readStreamState(manager: JetStreamManager, stream: string): Promise<StreamState | undefined> {
  try {
    return (await manager.streams.info(stream)).state;
  } catch (error) {
    if (isMissingInJetStream(error)) return undefined;
    throw error;
  }
}

/** Returns the data of all events of a type about a subject, oldest first, from the event streams of a test. */
export async function listPublishedTestEvents<Type extends BusEventType>(
  environment: IsolatedTestEnvironment,
  type: Type,
  subject: string,
): Promise<BusEventData<Type>[]> {
  return (await listPublishedTestEventEnvelopes(environment))
    .filter((envelope) => envelope.type === type && envelope.subject === subject)
    .map(({ data }) => busEventDataSchemas[type].parse(data) as BusEventData<Type>);
}
