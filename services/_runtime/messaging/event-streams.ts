import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { type BusEventType, isOrderEventType } from "@pragma/contracts/events";

/**
 * The streams: `orders` contains the events of live orders, and `tills` contains all other events. Each has a maximum
 * size of its own, so that order events, of which there are far more, leave room for the events from which reports
 * follow.
 */
export type EventStreamKind = "tills" | "orders";
export const eventStreamKinds: readonly EventStreamKind[] = ["tills", "orders"];

/** Returns the stream that contains the events of a type. */
export const getEventStreamKind = (type: BusEventType): EventStreamKind =>
  isOrderEventType(type) ? "orders" : "tills";

/** Returns the names of the streams of an installation. */
export const buildEventStreamNames = (namespace: string): Record<EventStreamKind, string> => ({
  tills: `${namespace}_events`,
  orders: `${namespace}_order_events`,
});

/** Returns the first token of the subjects of each stream. The subjects of two streams must not overlap. */
export const buildSubjectPrefixes = (namespace: string): Record<EventStreamKind, string> => ({
  tills: namespace,
  orders: `${namespace}-orders`,
});

/** Returns the subject filter of all events of a type. */
export const buildEventSubjectFilter = (namespace: string, type: BusEventType): string =>
  `${buildSubjectPrefixes(namespace)[getEventStreamKind(type)]}.${type}.>`;

const dayMs = 24 * 60 * 60 * 1000;
/** How long the streams retain events, in milliseconds. */
export const eventRetentionMs = 14 * dayMs;

/** Returns whether an error is JetStream's response that a stream or consumer does not exist. */
export function isMissingInJetStream(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  );
}
