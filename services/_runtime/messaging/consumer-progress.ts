import type { ConsumerInfo, JsMsg } from "@nats-io/jetstream";
import { parseEventEnvelope } from "./handle-event.ts";

/** A message that was not acknowledged or returned. Times are in milliseconds on the clock of `performance.now()`. */
export interface HeldMessage {
  message: JsMsg;
  receivedAtMs: number;
  /** When its handler was called; undefined while it waits for one. */
  startedAtMs: number | undefined;
  /**
   * The number of the connection of the last delivery. An acknowledgment names only a sequence, which another message may
   * have now if the stream was rolled back while the connection was lost.
   */
  deliveryEpoch: number;
}

/** An event that an instance of a service has received and not handled yet, as operators see it. */
export type InFlightEvent = ReturnType<typeof describeHeldMessage>;

export type ConsumerProgress = ReturnType<typeof createConsumerProgress>;

/** The maximum number of events in flight that are listed, the oldest first. */
const maxListedEvents = 1_000;

/** Creates the record of a consumer's progress. `held` contains its messages. `readPending` reads its state from NATS. */
export function createConsumerProgress(
  held: ReadonlyMap<unknown, HeldMessage>,
  readPending: () => Promise<Pick<ConsumerInfo, "num_pending" | "num_ack_pending"> | undefined>,
) {
  let lastSettledMs = performance.now();
  /** When the last attempt ended, or the first event arrived after that; undefined if there is no work. */
  let noProgressSinceMs: number | undefined;

  const recordWork = () => {
    noProgressSinceMs ??= performance.now();
  };

  return {
    recordReceived: recordWork,
    recordOutcome(outcome: "settled" | "failed" | "abandoned"): void {
      if (outcome === "settled") lastSettledMs = performance.now();
      if (outcome !== "abandoned") noProgressSinceMs = held.size > 0 ? performance.now() : undefined;
    },
    /** Returns the seconds since the oldest event in flight was received; 0 if none is in flight. */
    getOldestInFlightSeconds: () => secondsSince(held.values().next().value?.receivedAtMs ?? performance.now()),
    /** Returns the seconds since an event was last handled or became a dead letter, or since the start. */
    getSecondsSinceLastHandled: () => secondsSince(lastSettledMs),
    /**
     * Returns since when there have been events, in flight or in the stream, without an attempt that ended by itself,
     * even with a failure, on the clock of `performance.now()`; undefined if there are no events.
     */
    async findNoProgressSince(): Promise<number | undefined> {
      if (held.size > 0) return noProgressSinceMs;
      const pending = await readPending().catch(() => undefined);
      if (!pending) return noProgressSinceMs;
      if (pending.num_pending > 0) recordWork();
      // An event that was given back is not acknowledged, and may be in the hands of another instance.
      else if (pending.num_ack_pending === 0) noProgressSinceMs = undefined;
      return noProgressSinceMs;
    },
    listInFlightEvents: (): InFlightEvent[] => [...held.values()].slice(0, maxListedEvents).map(describeHeldMessage),
  };
}

const secondsSince = (timeMs: number) => (performance.now() - timeMs) / 1000;
const toDate = (timeMs: number) => new Date(Date.now() - (performance.now() - timeMs));

function describeHeldMessage({ message, receivedAtMs, startedAtMs }: HeldMessage) {
  // The last two parts of a NATS subject: the event's type contains dots, and the location is the last part.
  const [, ...subjectParts] = message.subject.split(".");
  const location = subjectParts.pop();
  const described = {
    event: subjectParts.join("."),
    locationId: location === undefined || location === "none" ? null : location,
    receivedAt: toDate(receivedAtMs),
    handlerStartedAt: startedAtMs === undefined ? null : toDate(startedAtMs),
    deliveries: message.info.deliveryCount,
  };
  try {
    const { id, subject } = parseEventEnvelope(message.string());
    return { ...described, eventId: id, subject };
  } catch {
    return { ...described, eventId: null, subject: null };
  }
}
