import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import type { EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { RequestContext } from "../observability/request-context.ts";
import { markSpanFailed } from "../observability/tracing.ts";
import { computeRetryDelayMs } from "../retries/retry-delay.ts";
import { isCanceledStatement, isTransient, PermanentError } from "../retries/transient-error.ts";
import { deleteOutdatedDeadLetters, insertDeadLetter } from "./dead-letters.ts";
import { type EventHandlingOptions, handleEvent, parseEventEnvelope, runInEventContext } from "./handle-event.ts";

export interface MessageSettlerOptions<Services> extends EventHandlingOptions<Services> {
  log: Logger;
  metrics: Metrics;
}

/** How often an event that fails for an unknown reason, or takes too long, is tried before it is parked. */
const maxUnknownErrorAttempts = 5;
/**
 * How often the process may have ended during the recorded handlings of an event (those after its first delivery) before
 * it is handled alone, and before it is parked.
 */
const crashesBeforeExclusive = 1;
const crashesBeforeDeadLetter = 3;

/** Of the whole process, whatever it handles: an event that ends the process takes all of it along. */
const processWideLock = createReadWriteLock();

/** Brings messages to an end: each is handled or parked and acknowledged, or handed back to come again. */
export function createMessageSettler<Services>(options: MessageSettlerOptions<Services>) {
  const { service, subscription, database, log, metrics } = options;
  const { sql } = database;
  const unknownErrorCounts = new LRUCache<string, number>({ max: 10_000 });
  /** The events whose handling is recorded and under way. */
  const recordedEventIds = new Set<string>();

  /** Never rejects. */
  async function settle(message: JsMsg): Promise<void> {
    try {
      await handleOrDeadLetter(message);
      ignoreErrors(() => message.ack());
    } catch {
      ignoreErrors(() => message.nak(computeRetryDelayMs(message.info.deliveryCount, { first: 250, longest: 30_000 })));
    }
  }

  /** Rejects when the message is to come again. */
  async function handleOrDeadLetter(message: JsMsg): Promise<void> {
    const body = message.string();
    let envelope: EventEnvelope;
    try {
      envelope = parseEventEnvelope(body);
    } catch (error) {
      const { subject } = message;
      log.error({ err: error, subject }, "message is no event; parked");
      // It has no id and no subject of its own, and can be kept all the same.
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
          : await processWideLock.shared(() => handleEvent(envelope, { ...options, context }));
      await removeOutdatedDeadLetters(envelope);
      metrics.recordEventDuration(seconds(), { service, event, outcome: hadEffect ? "done" : "repeated" });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event");
    } catch (error) {
      const passes = isTransient(error) && !isCanceledStatement(error);
      const attempts = passes ? 0 : (unknownErrorCounts.get(eventId) ?? 0) + 1;
      unknownErrorCounts.set(eventId, attempts);
      const isPermanent = error instanceof PermanentError || attempts >= maxUnknownErrorAttempts;
      markSpanFailed(span, error);
      metrics.recordEventDuration(seconds(), { service, event, outcome: isPermanent ? "parked" : "retried" });
      log.error({ ...fields, ...logFields, err: error, deliveries, isHopeless: isPermanent }, "event failed");
      if (!isPermanent) throw error;
      await removeOutdatedDeadLetters(envelope);
      const row = { eventId, subscription: subscription.type, subject, type: event };
      await insertDeadLetter(sql, { ...row, body: message.string(), reason: describeErrorChain(error) });
    }
  }

  /** Handles what was delivered before: the process may have ended while it was handled. */
  async function handleRedelivery(envelope: EventEnvelope, context: RequestContext): Promise<boolean> {
    const attempt = { eventId: envelope.id, subscription: subscription.type };
    const isThis = sql`event_id = ${attempt.eventId} and subscription = ${attempt.subscription}`;
    /** The handling came to an end, good or bad. */
    const deleteAttempts = () => sql`delete from handling_attempts where ${isThis}`;
    // How often it was begun and came to no end, of the times that are recorded: those after its first delivery.
    const [row] = await sql<{ tries: number }[]>`select tries from handling_attempts where ${isThis}`;
    const crashes = row?.tries ?? 0;
    if (crashes >= crashesBeforeDeadLetter) {
      await deleteAttempts();
      throw new PermanentError(
        `The process ended ${crashes} times while it handled this, at last when it did nothing else.`,
      );
    }
    const runLocked = crashes >= crashesBeforeExclusive ? processWideLock.exclusive : processWideLock.shared;
    return runLocked(async () => {
      recordedEventIds.add(envelope.id);
      try {
        await sql`
          insert into handling_attempts ${sql(attempt)}
          on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()`;
        return await handleEvent(envelope, { ...options, context });
      } finally {
        recordedEventIds.delete(envelope.id);
        await deleteAttempts();
      }
    });
  }

  /** Of what is about the same thing, nothing of this revision or a lower one need stay parked. */
  async function removeOutdatedDeadLetters({ subject, data }: EventEnvelope): Promise<void> {
    const revision = subscription.hasRevisions && readRevision(data);
    if (revision) await deleteOutdatedDeadLetters(sql, { subscription: subscription.type, subject, revision });
  }

  /** Called when the process stops: what it does not wait for any longer did not end it. */
  const withdraw = () => sql`
    update handling_attempts set tries = tries - 1
    where event_id = any(${[...recordedEventIds]}::uuid[]) and subscription = ${subscription.type}`;

  return { settle, withdraw };
}

/** The revision of what an event is about; undefined where its data has none. */
export function readRevision(data: unknown): number | undefined {
  const { revision } = Object(data) as { revision?: unknown };
  return Number.isSafeInteger(revision) ? (revision as number) : undefined;
}

/** Without a connection nothing can be said of a message, and nothing needs to be: it comes again. */
export function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {}
}

/** Creates a lock for work that goes on beside other work, or alone. It is granted in the order in which it is asked for. */
function createReadWriteLock() {
  const running = new Set<Promise<void>>();
  let lastExclusive: Promise<unknown> = Promise.resolve();

  function runAfter<T>(others: Promise<unknown>, work: () => Promise<T>): { result: Promise<T>; ended: Promise<void> } {
    const result = others.then(work);
    const forget = () => void running.delete(ended);
    const ended: Promise<void> = result.then(forget, forget);
    running.add(ended);
    return { result, ended };
  }

  return {
    shared: <T>(work: () => Promise<T>) => runAfter(lastExclusive, work).result,
    /** Waits until all other work has ended; none begins until this has ended. */
    exclusive<T>(work: () => Promise<T>): Promise<T> {
      const { result, ended } = runAfter(Promise.all(running), work);
      lastExclusive = ended;
      return result;
    },
  };
}
