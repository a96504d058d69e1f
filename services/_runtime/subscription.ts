import type { EventData, EventType } from "@pragma/contracts/events";
import type { Transaction } from "./postgres.ts";

/** One event being handled. */
export interface Handling<Type extends EventType, Services> {
  eventId: string;
  /** When it came to pass, in UTC. */
  time: string;
  data: EventData<Type>;
  services: Services;
  /**
   * Runs the effect of the event in a transaction together with the note that it was handled, so that it happens once
   * however often the event arrives. Slow work (reading objects, calculating) belongs before it.
   */
  once(effect: (tx: Transaction) => Promise<void>): Promise<void>;
  /**
   * The same for an effect that is written together with those of other events, in one statement, and with it the row of
   * `inbox` that notes that this one was handled. It says whether it was the first to write that row.
   */
  onceTogether(effect: () => Promise<boolean>): Promise<void>;
}

/** What a service does when it hears of an event. */
export interface Subscription<Services, Type extends EventType = EventType> {
  type: Type;
  /** How many events of this type one instance handles at a time. */
  concurrency: number;
  /** Whether an event makes earlier ones about the same thing moot, so that those need not stay parked. */
  isLatestOnly: boolean;
  handle(handling: Handling<Type, Services>): Promise<void>;
}

/**
 * Subscribes a service to an event. A handler that throws for a passing cause is called again for as long as the cause
 * lasts; one that throws `PermanentError`, or anything else several times, has the message parked.
 */
export function on<Services, Type extends EventType>(
  type: Type,
  handle: (handling: Handling<Type, Services>) => Promise<void>,
  { concurrency = 8, isLatestOnly = false } = {},
): Subscription<Services> {
  return { type, concurrency, isLatestOnly, handle: handle as unknown as Subscription<Services>["handle"] };
}
