import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import type { EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { createReadWriteLock } from "../concurrency/read-write-lock.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RequestContext } from "../observability/request-context.ts";
import { markSpanFailed } from "../observability/tracing.ts";
import {
  computeRetryDelayMs,
  isCanceledStatementError,
  isTransient,
  PermanentError,
} from "../retries/transient-error.ts";
import { deleteOutdatedDeadLetters, insertDeadLetter } from "./dead-letters.ts";
import { type EventHandlingOptions, handleEventOnce, parseEventEnvelope, runInEventContext } from "./handle-event.ts";

export interface MessageSettlerOptions<Services> extends EventHandlingOptions<Services> {
  log: Logger;
  metrics: Metrics;
}

/** The maximum attempts of an event that fails with an unknown error or a statement timeout. */
const maxUnknownErrorAttempts = 5;
/**
 * The number of recorded attempts (those after the first delivery) during which the process crashed, after which an
 * event is handled alone, and after which it becomes a dead letter.
 */
const crashesBeforeExclusive = 1;
const crashesBeforeDeadLetter = 3;

/** Shared by all subscriptions of the process, because a crash affects all of them. */
const processWideLock = createReadWriteLock();

/** Creates a settler that acknowledges each message once it is handled or a dead letter, or returns it for a retry. */
export function createMessageSettler<Services>(options: MessageSettlerOptions<Services>) {
  const { service, subscription, database, log, metrics } = options;
  const { sql } = database;
  const unknownErrorCounts = new LRUCache<string, number>({ max: 10_000 });
  /** The events with a recorded attempt in progress. */
  const recordedEventIds = new Set<string>();

  /** Never rejects. */
  async function settleMessage(message: JsMsg): Promise<void> {
    try {
      await handleOrDeadLetter(message);
      ignoreMessageErrors(() => message.ack());
    } catch {
      ignoreMessageErrors(() =>
        message.nak(computeRetryDelayMs(message.info.deliveryCount, { firstMs: 250, maxMs: 30_000 })),
      );
    }
  }

  /** Rejects when the message must be redelivered. */
  async function handleOrDeadLetter(message: JsMsg): Promise<void> {
    const body = message.string();
    let envelope: EventEnvelope;
    try {
      envelope = parseEventEnvelope(body);
    } catch (error) {
      const { subject } = message;
      log.error({ err: error, subject }, "invalid event envelope; stored as a dead letter");
      // Without an envelope there is no event id and no event subject.
      const row = { eventId: randomUUID(), subscription: subscription.type, subject, type: subject };
      return insertDeadLetter(sql, { ...row, body, reason: describeErrorChain(error) });
    }
    await runInEventContext(envelope, service, (context) => handle(message, envelope, context));
  }

  async function handle(message: JsMsg, envelope: EventEnvelope, context: RequestContext): Promise<void> {
    const { traceId, span, logFields } = context;
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const { id: eventId, type: event, subject } = envelope;
    const deliveries = message.info.deliveryCount;
    const fields = { event, eventId, subject, traceId };
    try {
      const hadEffect =
        deliveries > 1
          ? await handleRedelivery(envelope, context)
          : await processWideLock.shared(() => handleEventOnce(envelope, { ...options, context }));
      await removeOutdatedDeadLetters(envelope);
      metrics.recordEventDuration(seconds(), { service, event, outcome: hadEffect ? "done" : "repeated" });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event handled");
    } catch (error) {
      const willPass = isTransient(error) && !isCanceledStatementError(error);
      const attempts = willPass ? 0 : (unknownErrorCounts.get(eventId) ?? 0) + 1;
      unknownErrorCounts.set(eventId, attempts);
      const isPermanent = error instanceof PermanentError || attempts >= maxUnknownErrorAttempts;
      markSpanFailed(span, error);
      metrics.recordEventDuration(seconds(), { service, event, outcome: isPermanent ? "parked" : "retried" });
      log.error({ ...fields, ...logFields, err: error, deliveries, isPermanent }, "event handling failed");
      if (!isPermanent) throw error;
      await removeOutdatedDeadLetters(envelope);
      const row = { eventId, subscription: subscription.type, subject, type: event };
      await insertDeadLetter(sql, { ...row, body: message.string(), reason: describeErrorChain(error) });
    }
  }

  /** Handles a redelivered event, during whose earlier handling the process may have crashed. */
  async function handleRedelivery(envelope: EventEnvelope, context: RequestContext): Promise<boolean> {
    const attempt = { eventId: envelope.id, subscription: subscription.type };
    const isThisAttempt = sql`event_id = ${attempt.eventId} and subscription = ${attempt.subscription}`;
    /** Called when the handling has succeeded or failed without a crash. */
    const deleteAttempts = () => sql`delete from handling_attempts where ${isThisAttempt}`;
    // The recorded attempts that neither succeeded nor failed: the process crashed during them.
    const [row] = await sql<{ tries: number }[]>`select tries from handling_attempts where ${isThisAttempt}`;
    const crashes = row?.tries ?? 0;
    if (crashes >= crashesBeforeDeadLetter) {
      await deleteAttempts();
      throw new PermanentError(
        `The process crashed ${crashes} times while handling this event, the last time while handling nothing else.`,
      );
    }
    const runLocked = crashes >= crashesBeforeExclusive ? processWideLock.exclusive : processWideLock.shared;
    return runLocked(async () => {
      recordedEventIds.add(envelope.id);
      try {
        await sql`
          insert into handling_attempts ${sql(attempt)}
          on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()`;
        return await handleEventOnce(envelope, { ...options, context });
      } finally {
        recordedEventIds.delete(envelope.id);
        await deleteAttempts();
      }
    });
  }

  /** Deletes the dead letters about the same subject with this revision or a lower one. */
  async function removeOutdatedDeadLetters({ subject, data }: EventEnvelope): Promise<void> {
    const revision = subscription.hasRevisions && readEventRevision(data);
    if (revision) await deleteOutdatedDeadLetters(sql, { subscription: subscription.type, subject, revision });
  }

  /** Called when the process stops, so that events which it no longer waits for do not count as crashes. */
  const withdrawAttempts = () => sql`
    update handling_attempts set tries = tries - 1
    where event_id = any(${[...recordedEventIds]}::uuid[]) and subscription = ${subscription.type}`;

  return { settleMessage, withdrawAttempts };
}

/** Returns the revision in an event's data; undefined when it has none. */
export function readEventRevision(data: unknown): number | undefined {
  const { revision } = Object(data) as { revision?: unknown };
  return Number.isSafeInteger(revision) ? (revision as number) : undefined;
}

/** Runs an action on a message and ignores errors: without a connection, the message is redelivered anyway. */
export function ignoreMessageErrors(action: () => void): void {
  try {
    action();
  } catch {}
}
