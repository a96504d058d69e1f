import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { type BusEventType, isOrderEventType } from "@pragma/contracts/events";

/** `orders` has a stream of its own, so that these many events leave room for those from which reports follow. */
export type EventStreamKind = "tills" | "orders";
export const eventStreamKinds: readonly EventStreamKind[] = ["tills", "orders"];

export const getEventStreamKind = (type: BusEventType): EventStreamKind =>
  isOrderEventType(type) ? "orders" : "tills";

export const buildEventStreamNames = (namespace: string): Record<EventStreamKind, string> => ({
  tills: `${namespace}_events`,
  orders: `${namespace}_order_events`,
});

/** Returns the first token of the subjects of each stream. The subjects of two streams must not overlap. */
export const buildSubjectPrefixes = (namespace: string): Record<EventStreamKind, string> => ({
  tills: namespace,
  orders: `${namespace}-orders`,
});

export const buildEventSubjectFilter = (namespace: string, type: BusEventType): string =>
  `${buildSubjectPrefixes(namespace)[getEventStreamKind(type)]}.${type}.>`;

/** How long the streams retain events. */
export const eventRetentionMs = 14 * 24 * 60 * 60 * 1000;

/** Returns whether an error is JetStream's response that a stream or consumer does not exist. */
export function isMissingInJetStream(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  );
}
