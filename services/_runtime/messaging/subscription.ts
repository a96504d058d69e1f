import type { EventData, EventType } from "@pragma/contracts/events";
import type { SqlTransaction } from "../database/postgres.ts";
import type { RequestContext } from "../observability/request-context.ts";

/** One event being handled. */
export interface EventHandlerInput<Type extends EventType, Services> {
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
  once(effect: (tx: SqlTransaction) => Promise<void>): Promise<void>;
}

interface SubscriptionOptions {
  /** How many events of this type one instance handles at a time. */
  concurrency: number;
  /**
   * Whether the events carry the revision of what they are about. Then one of a location is handled at a time, the highest
   * revision of a thing before lower ones; and once it was handled none of a lower revision stays parked.
   */
  hasRevisions: boolean;
  /**
   * Whether the effect is written together with those of other events, in one statement, and with it the row of `inbox`
   * that notes that this one was handled. Then it is not looked up before whether it was, and the handler returns whether
   * it was the first to write that row.
   */
  isBatched: boolean;
}

/** What a service does when it hears of an event. */
export interface EventSubscription<Services, Type extends EventType = EventType> extends SubscriptionOptions {
  type: Type;
  handle(input: EventHandlerInput<Type, Services>): Promise<unknown>;
}

/**
 * Subscribes a service to an event. A handler that throws for a passing cause is called again for as long as the cause
 * lasts; one that throws `PermanentError`, or anything else several times, a statement that took too long included, has
 * the message parked.
 */
export function onEvent<Services, Type extends EventType>(
  type: Type,
  handle: (input: EventHandlerInput<Type, Services>) => Promise<unknown>,
  { concurrency = 8, hasRevisions = false, isBatched = false }: Partial<SubscriptionOptions> = {},
): EventSubscription<Services> {
  const subscription: EventSubscription<Services, Type> = { type, concurrency, hasRevisions, isBatched, handle };
  return subscription as unknown as EventSubscription<Services>;
}
