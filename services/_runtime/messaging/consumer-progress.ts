import type { JsMsg } from "@nats-io/jetstream";
import { parseEventEnvelope } from "./handle-event.ts";

/** A message that a consumer has received and not settled. Times are those of `performance.now()`. */
export interface HeldMessage {
  message: JsMsg;
  receivedAtMs: number;
  /** When its handler was called; undefined while it waits for one. */
  startedAtMs: number | undefined;
}

/** An event that an instance of a service has received and not handled yet, as operators see it. */
export interface EventInHand {
  event: string;
  eventId: string | null;
  /** The subject of the event, such as the id of a till. */
  subject: string | null;
  locationId: string | null;
  receivedAt: Date;
  /** When its handler was called; null while it waits for its turn. */
  handledSince: Date | null;
  deliveries: number;
}

/** The progress of a consumer, for metrics, operators and the stall detector. */
export type ConsumerProgress = ReturnType<ReturnType<typeof createConsumerProgress>["observe"]>;

/** The maximum number of events in hand that are listed, the oldest first. */
const maxListedEvents = 1_000;

/** Records the progress of a consumer. */
export function createConsumerProgress() {
  let lastSettledMs = performance.now();
  let lastEndedMs = lastSettledMs;
  /** Since when events have been waiting in the stream while none is in hand, as of the latest check. */
  let waitingSinceMs: number | undefined;

  return {
    /** Records that the handling of a message has ended. */
    record(outcome: "settled" | "failed" | "abandoned"): void {
      const now = performance.now();
      if (outcome === "settled") lastSettledMs = now;
      if (outcome !== "abandoned") lastEndedMs = now;
    },
    /** Returns the progress. `hasWaitingEvents` asks the stream. */
    observe: (held: ReadonlyMap<number, HeldMessage>, hasWaitingEvents: () => Promise<boolean>) => ({
      /** Returns the seconds since the oldest event in hand was received; 0 if none is in hand. */
      getOldestInHandSeconds: () => secondsSince(oldestReceivedMs(held) ?? performance.now()),
      /** Returns the seconds since an event was last handled or became a dead letter, or since the start. */
      getSecondsSinceLastHandled: () => secondsSince(lastSettledMs),
      /**
       * Returns since when there have been events without an attempt that ended by itself, as of `performance.now()`, or
       * undefined if there are no events. An attempt that fails counts as progress.
       */
      async findStalledSince(): Promise<number | undefined> {
        const oldestMs = oldestReceivedMs(held);
        if (oldestMs !== undefined) waitingSinceMs = undefined;
        // The last answer is kept when the stream does not answer.
        else if (await hasWaitingEvents().catch(() => waitingSinceMs !== undefined))
          waitingSinceMs ??= performance.now();
        else waitingSinceMs = undefined;
        const sinceMs = oldestMs ?? waitingSinceMs;
        return sinceMs === undefined ? undefined : Math.max(sinceMs, lastEndedMs);
      },
      listEventsInHand(): EventInHand[] {
        return [...held.values()].slice(0, maxListedEvents).map(describeHeldMessage);
      },
    }),
  };
}

/** Returns when the oldest message was received. The map has the sequence in which messages were received. */
function oldestReceivedMs(held: ReadonlyMap<number, HeldMessage>): number | undefined {
  return held.values().next().value?.receivedAtMs;
}

const secondsSince = (timeMs: number) => (performance.now() - timeMs) / 1000;
const toDate = (timeMs: number) => new Date(Date.now() - (performance.now() - timeMs));

function describeHeldMessage({ message, receivedAtMs, startedAtMs }: HeldMessage): EventInHand {
  // The last two parts of a NATS subject: the event's type contains dots, and the location is the last part.
  const [, ...subjectParts] = message.subject.split(".");
  const location = subjectParts.pop();
  const described = {
    event: subjectParts.join("."),
    locationId: location === undefined || location === "none" ? null : location,
    receivedAt: toDate(receivedAtMs),
    handledSince: startedAtMs === undefined ? null : toDate(startedAtMs),
    deliveries: message.info.deliveryCount,
  };
  try {
    const { id, subject } = parseEventEnvelope(message.string());
    return { ...described, eventId: id, subject };
  } catch {
    return { ...described, eventId: null, subject: null };
  }
}
