import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import { busEventDataSchemas, type EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { Admission } from "../admission/admission.ts";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";
import type { ObservabilityContext } from "../observability/request-context.ts";
import { markSpanFailed } from "../observability/tracing.ts";
import {
  computeRetryDelayMs,
  isCanceledStatementError,
  isRemovedLocationError,
  isTransient,
  PermanentEventError,
} from "../retries/transient-error.ts";
import { deleteSupersededDeadLetters, upsertDeadLetter } from "./dead-letters.ts";
import { redactEventIfOrderErased } from "./erased-orders.ts";
import {
  type EventHandlerDependencies,
  EventHandlerTimeoutError,
  handleEventOnce,
  parseEventEnvelope,
  runInEventContext,
} from "./handle-event.ts";

export interface HandlerDependencies<Services> extends EventHandlerDependencies<Services> {
  log: Logger;
  metrics: PrometheusMetrics;
  /** Returns the names of the servers that do not respond. After a timeout, an event counts as failed only if there are none. */
  findUnavailableDependencies(): Promise<string[]>;
}

/** `settled`: handled or a dead letter. `failed`: will be retried. `abandoned`: the handler did not end. */
type MessageOutcome = "settled" | "failed" | "abandoned";

class ConsumerStoppedError extends Error {}

/** Maximum number of attempts for an event that fails with an unknown error or a statement timeout. */
const maxUnknownErrorAttempts = 5;
/** Number of abandoned handlers of an event after which it becomes a dead letter, over all instances and restarts. */
const timeoutsBeforeDeadLetter = 5;
/** Then no other event is in progress, to find out whether this one causes the crashes. */
const crashesBeforeExclusive = 1;
const crashesBeforeDeadLetter = 3;
/** For what surrounds the handler, such as recording a failure or waiting for an event that is handled exclusively. */
const bookkeepingTimeoutMs = 60_000;

/** The events in progress of all subscriptions, because a crash affects all of them. An event that holds all is alone. */
const maxEventsInProgress = 1_000_000;
const eventsInProgress = new Admission({ perProcess: maxEventsInProgress });

/** Acknowledges each message after its event is handled or a dead letter, and otherwise returns it for a retry. */
export function createEventMessageHandler<Services>(options: HandlerDependencies<Services>) {
  const { service, subscription, database, log, metrics, handlerTimeoutMs, findUnavailableDependencies } = options;
  const { sql } = database;
  const stopping = new AbortController();
  /** Created with the first error, because it takes 300 KB, and a process has dozens of consumers. */
  let unknownErrorCounts: LRUCache<string, number> | undefined;
  const recordedEventIds = new Set<string>();
  const recordTimeout = (count = 1) => metrics.countEventHandlerTimeouts(count, { service, event: subscription.type });
  // Prometheus sees an increase only if the counter already exists.
  recordTimeout(0);

  /** `findDelivery` returns the delivery to settle; undefined if the message will be delivered again. Never rejects. */
  async function handleMessage(message: JsMsg, findDelivery: () => JsMsg | undefined): Promise<MessageOutcome> {
    try {
      await runWithDeadline((signal) => handleOrDeadLetter(message, signal), {
        timeoutMs: handlerTimeoutMs + bookkeepingTimeoutMs,
        createError() {
          recordTimeout();
          log.error({ event: subscription.type, subject: message.subject, sequence: message.seq }, "event abandoned");
          return new EventHandlerTimeoutError("The outcome of an event could not be recorded in time.");
        },
        parent: stopping.signal,
      });
      runIgnoringMessageAckErrors(() => findDelivery()?.ack());
      return "settled";
    } catch (error) {
      const isStopped = error instanceof ConsumerStoppedError;
      const retryDelayMs = computeRetryDelayMs(message.info.deliveryCount, { firstMs: 250, maxMs: 30_000 });
      runIgnoringMessageAckErrors(() => findDelivery()?.nak(isStopped ? undefined : retryDelayMs));
      return isStopped || error instanceof EventHandlerTimeoutError ? "abandoned" : "failed";
    }
  }

  /** Handles a message or stores it as a dead letter. Rejects if the message must be redelivered. */
  async function handleOrDeadLetter(message: JsMsg, abandonment: AbortSignal): Promise<void> {
    const body = message.string();
    let envelope: EventEnvelope;
    try {
      envelope = parseEventEnvelope(body);
    } catch (error) {
      const { subject } = message;
      log.error({ err: error, subject }, "invalid event envelope; stored as a dead letter");
      // Uses a random id and the NATS subject, because the event's own id and subject cannot be read.
      const row = { eventId: randomUUID(), subscription: subscription.type, subject, type: subject };
      return upsertDeadLetter(sql, { ...row, body, reason: describeErrorChain(error) });
    }
    await runInEventContext(envelope, service, (context) => handle(message, envelope, { context, abandonment }));
  }

  async function handle(message: JsMsg, envelope: EventEnvelope, attempt: Attempt): Promise<void> {
    const { context, abandonment } = attempt;
    const { traceId, span, logFields } = context;
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const { id: eventId, type: event, subject } = envelope;
    const deliveries = message.info.deliveryCount;
    const fields = { event, eventId, subject, traceId };
    try {
      const hadEffect =
        deliveries > 1
          ? await handleRedelivery(envelope, attempt)
          : await eventsInProgress.run(() => handleEventOnce(envelope, { ...options, ...attempt }));
      await removeOutdatedDeadLetters(envelope);
      metrics.recordEventDuration(seconds(), { service, event, outcome: hadEffect ? "done" : "repeated" });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event handled");
    } catch (error) {
      abandonment.throwIfAborted();
      if (isRemovedLocationError(error) || (await isOfRemovedLocation(envelope))) {
        metrics.recordEventDuration(seconds(), { service, event, outcome: "done" });
        log.info({ ...fields, ...logFields }, "event of a removed location ignored");
        return;
      }
      const isTimeout = error instanceof EventHandlerTimeoutError;
      const isPermanent = isTimeout ? await isLastTimeout(eventId) : isLastAttempt(eventId, error);
      markSpanFailed(span, error);
      metrics.recordEventDuration(seconds(), { service, event, outcome: isPermanent ? "dead_lettered" : "retried" });
      log.error({ ...fields, ...logFields, err: error, deliveries, isPermanent }, "event handling failed");
      if (!isPermanent) throw error;
      await removeOutdatedDeadLetters(envelope);
      const row = { eventId, subscription: subscription.type, subject, type: event };
      const body = await redactEventIfOrderErased(sql, envelope, message.string());
      const deadLetter = { ...row, body, reason: describeErrorChain(error) };
      const { success, data } = busEventDataSchemas[event].safeParse(envelope.data);
      await database.transaction(async (tx) => {
        await upsertDeadLetter(tx, deadLetter);
        if (success) await subscription.onDeadLetter?.(tx, { eventId, data, error, traceparent: context.traceparent });
      });
    }
  }

  /** Counts a failure in this process, and returns whether the event must not be retried after it. */
  function isLastAttempt(eventId: string, error: unknown): boolean {
    const willPass = isTransient(error) && !isCanceledStatementError(error);
    unknownErrorCounts ??= new LRUCache({ max: 10_000 });
    const attempts = willPass ? 0 : (unknownErrorCounts.get(eventId) ?? 0) + 1;
    unknownErrorCounts.set(eventId, attempts);
    return error instanceof PermanentEventError || attempts >= maxUnknownErrorAttempts;
  }

  /**
   * Counts an abandoned handler, unless a server does not respond, and returns whether the event must not be retried.
   * The count is stored, because the stall detector may end the process before the fifth timeout.
   */
  async function isLastTimeout(eventId: string): Promise<boolean> {
    recordTimeout();
    if ((await findUnavailableDependencies()).length > 0) return false;
    const attempt = { eventId, subscription: subscription.type, attempts: 0, timeouts: 1 };
    const [row] = await sql<{ timeouts: number }[]>`
      insert into event_attempts ${sql(attempt)}
      on conflict (event_id, subscription)
      do update set timeouts = event_attempts.timeouts + 1, attempted_at = now()
      returning timeouts`;
    return (row?.timeouts ?? 0) >= timeoutsBeforeDeadLetter;
  }

  async function isOfRemovedLocation({ data }: EventEnvelope): Promise<boolean> {
    const { locationId } = Object(data) as { locationId?: unknown };
    if (typeof locationId !== "string") return false;
    const rows = await sql`select from removed_locations where location_id::text = ${locationId}`.catch(() => []);
    return rows.length > 0;
  }

  /** Handles a redelivered event. Records the attempt, because an earlier attempt may have crashed the process. */
  async function handleRedelivery(envelope: EventEnvelope, { context, abandonment }: Attempt): Promise<boolean> {
    const attempt = { eventId: envelope.id, subscription: subscription.type };
    const isThisAttempt = sql`event_id = ${attempt.eventId} and subscription = ${attempt.subscription}`;
    /** Called when the event was handled, failed without a crash, or becomes a dead letter because of crashes. */
    const deleteAttempts = async () => {
      const { count } = await sql`delete from event_attempts where ${isThisAttempt} and timeouts = 0`;
      if (count === 0) await sql`update event_attempts set attempts = 0 where ${isThisAttempt}`;
    };
    // Attempts are deleted when they end, even if they fail, so the process crashed during each attempt that remains.
    const [row] = await sql<{ attempts: number }[]>`select attempts from event_attempts where ${isThisAttempt}`;
    const crashes = row?.attempts ?? 0;
    if (crashes >= crashesBeforeDeadLetter) {
      await deleteAttempts();
      throw new PermanentEventError(
        `The process crashed ${crashes} times while handling this event, and the last time it handled no other event.`,
      );
    }
    const cost = crashes >= crashesBeforeExclusive ? maxEventsInProgress : 1;
    const handleRecorded = async () => {
      abandonment.throwIfAborted();
      recordedEventIds.add(envelope.id);
      try {
        await sql`
          insert into event_attempts ${sql(attempt)}
          on conflict (event_id, subscription)
          do update set attempts = event_attempts.attempts + 1, attempted_at = now()`;
        return await handleEventOnce(envelope, { ...options, context, abandonment });
      } finally {
        recordedEventIds.delete(envelope.id);
        await deleteAttempts();
      }
    };
    // The others must also continue if a statement of the record never ends.
    return eventsInProgress.run(() => racePromiseWithAbort(handleRecorded(), abandonment), "", { cost });
  }

  /** Deletes the dead letters about the event's subject, up to the event's revision, if the event has one. */
  async function removeOutdatedDeadLetters({ subject, data }: EventEnvelope): Promise<void> {
    const revision = subscription.hasRevisions && parseEventDataRevision(data);
    if (revision) await deleteSupersededDeadLetters(sql, { subscription: subscription.type, subject, revision });
  }

  /** Removes the attempts in progress from the counts when the process stops, so that they do not count as crashes. */
  const withdrawAttempts = () => sql`
    update event_attempts set attempts = attempts - 1
    where event_id = any(${[...recordedEventIds]}::uuid[]) and subscription = ${subscription.type}`;

  /** Abandons all handlers. Their messages are returned, so that other instances handle them at once. */
  const abandonHandlers = () => stopping.abort(new ConsumerStoppedError());

  return { handleMessage, withdrawAttempts, abandonHandlers };
}

interface Attempt {
  context: ObservabilityContext;
  abandonment: AbortSignal;
}

export function parseEventDataRevision(data: unknown): number | undefined {
  const { revision } = Object(data) as { revision?: unknown };
  return Number.isSafeInteger(revision) ? (revision as number) : undefined;
}

/** Runs an action on a message. Ignores errors, because JetStream redelivers an unacknowledged message anyway. */
export function runIgnoringMessageAckErrors(action: () => void): void {
  try {
    action();
  } catch {}
}
