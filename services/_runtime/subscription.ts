import type { EventData, EventType } from "@pragma/contracts/events";
import type { Transaction } from "./postgres.ts";
import type { RequestContext } from "./request-context.ts";

/** One event being handled. */
export interface Handling<Type extends EventType, Services> {
  eventId: string;
  /** When it came to pass, in UTC. */
  time: string;
  data: EventData<Type>;
  services: Services;
  context: RequestContext;
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
  /** How many of them may be of one location. */
  maxPerLocation: number;
  /**
   * The revision of what an event is about, where an event makes those of lower revisions moot: once it was handled they
   * are not, nor stay parked.
   */
  revisionOf?: (data: EventData<Type>) => number;
  /** Whether all that it does goes through `onceTogether`: then it is not looked up before whether an event was handled. */
  isBatched: boolean;
  handle(handling: Handling<Type, Services>): Promise<void>;
}

/**
 * Subscribes a service to an event. A handler that throws for a passing cause is called again for as long as the cause
 * lasts; one that throws `PermanentError`, or anything else several times, has the message parked.
 */
export function on<Services, Type extends EventType>(
  type: Type,
  handle: (handling: Handling<Type, Services>) => Promise<void>,
  {
    concurrency = 8,
    maxPerLocation = Math.max(1, Math.floor(concurrency * 0.75)),
    isBatched = false,
    revisionOf,
  }: Partial<Pick<Subscription<Services, Type>, "concurrency" | "maxPerLocation" | "isBatched" | "revisionOf">> = {},
): Subscription<Services> {
  const subscription: Subscription<Services, Type> = { type, concurrency, maxPerLocation, isBatched, handle };
  if (revisionOf) subscription.revisionOf = revisionOf;
  return subscription as unknown as Subscription<Services>;
}
