import type { EventData, EventType } from "@pragma/contracts/events";
import type { SqlTransaction } from "../database/postgres.ts";
import type { RequestContext } from "../observability/request-context.ts";

/** The input of an event handler. */
export interface EventHandlerInput<Type extends EventType, Services> {
  eventId: string;
  /** When the event occurred, in UTC. */
  time: string;
  data: EventData<Type>;
  services: Services;
  context: RequestContext;
  /**
   * Runs the effect of the event in a transaction that also records the event as handled, so that it happens once even
   * if the event is delivered repeatedly. Slow work (reading objects, calculating) belongs before it.
   */
  once(effect: (tx: SqlTransaction) => Promise<void>): Promise<void>;
}

interface SubscriptionOptions {
  /** The maximum number of events of this type that one instance handles at a time. */
  concurrency: number;
  /**
   * Whether the events carry the revision of their subject. Then one event of a location is handled at a time, the
   * highest revision of a subject first, and after that the dead letters of lower revisions are deleted.
   */
  hasRevisions: boolean;
  /**
   * Whether the handler writes the effects of several events and their rows of `inbox` in one statement. Then the
   * inbox is not checked before, and the handler returns whether it was the first to write the row of its event.
   */
  isBatched: boolean;
}

/** A service's subscription to an event type, with its handler. */
export interface EventSubscription<Services, Type extends EventType = EventType> extends SubscriptionOptions {
  type: Type;
  handle(input: EventHandlerInput<Type, Services>): Promise<unknown>;
}

/**
 * Returns a subscription to an event type. After a transient error the handler is called again until it succeeds.
 * After a `PermanentError`, or several other errors or statement timeouts, the event becomes a dead letter.
 */
export function onEvent<Services, Type extends EventType>(
  type: Type,
  handle: (input: EventHandlerInput<Type, Services>) => Promise<unknown>,
  { concurrency = 8, hasRevisions = false, isBatched = false }: Partial<SubscriptionOptions> = {},
): EventSubscription<Services> {
  const subscription: EventSubscription<Services, Type> = { type, concurrency, hasRevisions, isBatched, handle };
  return subscription as unknown as EventSubscription<Services>;
}
