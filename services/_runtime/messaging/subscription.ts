import type { BusEventData, BusEventType } from "@pragma/contracts/events";
import { z } from "zod";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { integerEnvSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { buildServiceVariableName } from "../config/service-databases.ts";
import type { SqlTransaction } from "../database/postgres.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";

export interface EventHandlerInput<Type extends BusEventType, Services> {
  eventId: string;
  /** The time at which the event occurred, in UTC. */
  time: string;
  data: BusEventData<Type>;
  services: Services;
  context: ObservabilityContext;
  /** Aborted when the handler is abandoned. Its effect is then ignored, so long work should end. */
  signal: AbortSignal;
  /** Runs `effect` once, in a transaction that records the event as handled. Do slow work before. */
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
  /** How many events an instance handles at a time, unless, for example, `REPORTING_TILL_PUSHED_CONCURRENCY` is set. */
  concurrency: number;
  /**
   * Whether events contain the revision of their subject. If so, each instance handles only one event of a location at
   * a time, and handles the highest revision of a subject first. It then deletes the dead letters up to this revision.
   */
  hasRevisions: boolean;
  /** For handlers whose work before `once` is slow: skips events that the inbox contains. */
  shouldCheckInboxFirst: boolean;
}

export interface EventSubscription<Services, Type extends BusEventType = BusEventType> extends SubscriptionOptions {
  type: Type;
  handle(input: EventHandlerInput<Type, Services>): Promise<unknown>;
  /** Called in the transaction that stores a dead letter with valid data. It can be stored again, with the same id. */
  onDeadLetter?: (tx: SqlTransaction, event: DeadLetteredEvent<Type>) => Promise<void>;
}

/** After several errors that are not transient, or a `PermanentEventError`, an event becomes a dead letter. */
export function defineEventSubscription<Services, Type extends BusEventType>(
  type: Type,
  handle: (input: EventHandlerInput<Type, Services>) => Promise<unknown>,
  options: Partial<SubscriptionOptions> & Pick<EventSubscription<Services, Type>, "onDeadLetter"> = {},
): EventSubscription<Services> {
  const defaults: SubscriptionOptions = { concurrency: 8, hasRevisions: false, shouldCheckInboxFirst: false };
  const subscription: EventSubscription<Services, Type> = { ...defaults, ...options, type, handle };
  return subscription as unknown as EventSubscription<Services>;
}

/** Returns subscriptions with the configured concurrency. @throws `ConfigError` if one is not from 1 to 1,000. */
export function configureSubscriptions<Services>(
  subscriptions: readonly EventSubscription<Services>[],
  service: string,
  environment: EnvironmentVariables,
): EventSubscription<Services>[] {
  const nameOf = ({ type }: { type: string }) =>
    buildServiceVariableName(service, `${type.replaceAll(".", "_").toUpperCase()}_CONCURRENCY`);
  const schema = z.object(
    Object.fromEntries(subscriptions.map((each) => [nameOf(each), integerEnvSchema(1, 1_000).optional()])),
  );
  const config = readConfigFromEnvironment(schema, environment);
  return subscriptions.map((each) => ({ ...each, concurrency: config[nameOf(each)] ?? each.concurrency }));
}
