import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import { z } from "zod";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { integerEnvSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { buildServiceVariableName } from "../config/service-databases.ts";
import type { SqlTransaction } from "../database/postgres.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";

/** The input of an event handler. */
export interface EventHandlerInput<Type extends BusEventType, Services> {
  eventId: string;
  /** The time at which the event occurred, in UTC. */
  time: string;
  data: BusEventData<Type>;
  services: Services;
  context: ObservabilityContext;
  /** Aborted when the handler is abandoned. Its effect is then ignored, so long work should end. */
  signal: AbortSignal;
  /**
   * Runs `effect` in a transaction that also records the event as handled, so that the changes are made only once even
   * if the event is delivered repeatedly. Do slow work, such as reading objects, before calling `once`, so that the
   * transaction is short.
   */
  once(effect: (tx: SqlTransaction) => Promise<void>): Promise<void>;
}

/** The event that becomes a dead letter, and why. */
export interface DeadLetteredEvent<Type extends BusEventType> {
  eventId: string;
  data: BusEventData<Type>;
  error: unknown;
  traceparent: string;
}

interface SubscriptionOptions {
  /**
   * The maximum number of events of this type that one instance handles concurrently, unless a variable such as
   * `REPORTING_TILL_PUSHED_CONCURRENCY` sets another number.
   */
  concurrency: number;
  /**
   * Whether events contain the revision of their subject. If so, each instance handles only one event of a location at
   * a time, and handles the highest revision of a subject first. It then deletes the dead letters up to this revision.
   */
  hasRevisions: boolean;
  /**
   * Whether the runtime looks for an event in the inbox before it calls the handler, and skips the event if it has already
   * been handled. For handlers whose work before `once` is slow. The others learn it from `once`.
   */
  shouldCheckInboxFirst: boolean;
}

/** A service's subscription to an event type, with its handler. */
export interface EventSubscription<Services, Type extends BusEventType = BusEventType> extends SubscriptionOptions {
  type: Type;
  handle(input: EventHandlerInput<Type, Services>): Promise<unknown>;
  /**
   * Called in the transaction that stores an event as a dead letter, if the event has valid data. An event that is
   * stored again, because its acknowledgment was lost, has the same id.
   */
  onDeadLetter?: (tx: SqlTransaction, event: DeadLetteredEvent<Type>) => Promise<void>;
}

/**
 * Returns a subscription to an event type. After a transient error, the handler is called again until it succeeds.
 * After a `PermanentEventError`, or after several other errors or statement timeouts, the event becomes a dead letter.
 */
export function defineEventSubscription<Services, Type extends BusEventType>(
  type: Type,
  handle: (input: EventHandlerInput<Type, Services>) => Promise<unknown>,
  {
    concurrency = 8,
    hasRevisions = false,
    shouldCheckInboxFirst = false,
    onDeadLetter,
  }: Partial<SubscriptionOptions> & Pick<EventSubscription<Services, Type>, "onDeadLetter"> = {},
): EventSubscription<Services> {
  const options = { concurrency, hasRevisions, shouldCheckInboxFirst, ...(onDeadLetter && { onDeadLetter }) };
  const subscription: EventSubscription<Services, Type> = { type, ...options, handle };
  return subscription as unknown as EventSubscription<Services>;
}

/** Returns the variable with the concurrency of a subscription, such as `REPORTING_TILL_PUSHED_CONCURRENCY`. */
const buildConcurrencyVariableName = (service: string, type: string) =>
  buildServiceVariableName(service, `${type.replaceAll(".", "_").toUpperCase()}_CONCURRENCY`);

/**
 * Returns the subscriptions of a service with the concurrency that the environment sets for them.
 *
 * @throws `ConfigError` if a concurrency is not a whole number from 1 to 1,000.
 */
export function configureSubscriptions<Services>(
  subscriptions: readonly EventSubscription<Services>[],
  service: string,
  environment: EnvironmentVariables,
): EventSubscription<Services>[] {
  const nameOf = ({ type }: { type: string }) => buildConcurrencyVariableName(service, type);
  const schema = z.object(
    Object.fromEntries(subscriptions.map((each) => [nameOf(each), integerEnvSchema(1, 1_000).optional()])),
  );
  const config = readConfigFromEnvironment(schema, environment);
  return subscriptions.map((each) => ({ ...each, concurrency: config[nameOf(each)] ?? each.concurrency }));
}
