import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import type { EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { type HandleOptions, handleEvent, readEnvelope, withEventContext } from "./handle-event.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { park, unparkRevisions } from "./parked-messages.ts";
import { reasonOf } from "./reason-of.ts";
import type { RequestContext } from "./request-context.ts";
import { retryDelay } from "./retry-delay.ts";
import { failSpan } from "./tracing.ts";
import { isCanceledStatement, isTransient, PermanentError } from "./transient-error.ts";

export interface SettlerOptions<Services> extends HandleOptions<Services> {
  log: Logger;
  metrics: Metrics;
}

/** How often an event that fails for an unknown reason, or takes too long, is tried before it is parked. */
const triesUnexplained = 5;
/**
 * How often the process may have ended during the recorded handlings of an event (those after its first delivery) before
 * it is handled alone, and before it is parked.
 */
const endsUntilAlone = 1;
const endsUntilParked = 3;

/** Of the whole process, whatever it handles: an event that ends the process takes all of it along. */
const processLock = createSharedLock();

/** Brings messages to an end: each is handled or parked and acknowledged, or handed back to come again. */
export function createSettler<Services>(options: SettlerOptions<Services>) {
  const { service, subscription, database, log, metrics } = options;
  const { sql } = database;
  const unexplained = new LRUCache<string, number>({ max: 10_000 });
  /** The events whose handling is recorded and under way. */
  const recorded = new Set<string>();

  /** Never rejects. */
  async function settle(message: JsMsg): Promise<void> {
    try {
      await handleOrPark(message);
      quietly(() => message.ack());
    } catch {
      quietly(() => message.nak(retryDelay(message.info.deliveryCount, { first: 250, longest: 30_000 })));
    }
  }

  /** Rejects when the message is to come again. */
  async function handleOrPark(message: JsMsg): Promise<void> {
    const body = message.string();
    let envelope: EventEnvelope;
    try {
      envelope = readEnvelope(body);
    } catch (error) {
      const { subject } = message;
      log.error({ err: error, subject }, "message is no event; parked");
      // It has no id and no subject of its own, and can be kept all the same.
      const row = { eventId: randomUUID(), subscription: subscription.type, subject, type: subject };
      return park(sql, { ...row, body, reason: reasonOf(error) });
    }
    await withEventContext(envelope, service, (context) => handle(message, envelope, context));
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
          ? await handleAgain(envelope, context)
          : await processLock.shared(() => handleEvent(envelope, { ...options, context }));
      await unparkOutdated(envelope);
      metrics.eventHandled(seconds(), { service, event, outcome: hadEffect ? "done" : "repeated" });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event");
    } catch (error) {
      const passes = isTransient(error) && !isCanceledStatement(error);
      const tries = passes ? 0 : (unexplained.get(eventId) ?? 0) + 1;
      unexplained.set(eventId, tries);
      const isHopeless = error instanceof PermanentError || tries >= triesUnexplained;
      failSpan(span, error);
      metrics.eventHandled(seconds(), { service, event, outcome: isHopeless ? "parked" : "retried" });
      log.error({ ...fields, ...logFields, err: error, deliveries, isHopeless }, "event failed");
      if (!isHopeless) throw error;
      await unparkOutdated(envelope);
      const row = { eventId, subscription: subscription.type, subject, type: event };
      await park(sql, { ...row, body: message.string(), reason: reasonOf(error) });
    }
  }

  /** Handles what was delivered before: the process may have ended while it was handled. */
  async function handleAgain(envelope: EventEnvelope, context: RequestContext): Promise<boolean> {
    const attempt = { eventId: envelope.id, subscription: subscription.type };
    const isThis = sql`event_id = ${attempt.eventId} and subscription = ${attempt.subscription}`;
    /** The handling came to an end, good or bad. */
    const forgetAttempts = () => sql`delete from handling_attempts where ${isThis}`;
    // How often it was begun and came to no end, of the times that are recorded: those after its first delivery.
    const [row] = await sql<{ tries: number }[]>`select tries from handling_attempts where ${isThis}`;
    const ends = row?.tries ?? 0;
    if (ends >= endsUntilParked) {
      await forgetAttempts();
      throw new PermanentError(
        `The process ended ${ends} times while it handled this, at last when it did nothing else.`,
      );
    }
    const runLocked = ends >= endsUntilAlone ? processLock.exclusive : processLock.shared;
    return runLocked(async () => {
      recorded.add(envelope.id);
      try {
        await sql`
          insert into handling_attempts ${sql(attempt)}
          on conflict (event_id, subscription) do update set tries = handling_attempts.tries + 1, tried_at = now()`;
        return await handleEvent(envelope, { ...options, context });
      } finally {
        recorded.delete(envelope.id);
        await forgetAttempts();
      }
    });
  }

  /** Of what is about the same thing, nothing of this revision or a lower one need stay parked. */
  async function unparkOutdated({ subject, data }: EventEnvelope): Promise<void> {
    const revision = subscription.hasRevisions && revisionIn(data);
    if (revision) await unparkRevisions(sql, { subscription: subscription.type, subject, revision });
  }

  /** Called when the process stops: what it does not wait for any longer did not end it. */
  const withdraw = () => sql`
    update handling_attempts set tries = tries - 1
    where event_id = any(${[...recorded]}::uuid[]) and subscription = ${subscription.type}`;

  return { settle, withdraw };
}

/** The revision of what an event is about; undefined where its data has none. */
export function revisionIn(data: unknown): number | undefined {
  const { revision } = Object(data) as { revision?: unknown };
  return Number.isSafeInteger(revision) ? (revision as number) : undefined;
}

/** Without a connection nothing can be said of a message, and nothing needs to be: it comes again. */
export function quietly(say: () => void): void {
  try {
    say();
  } catch {}
}

/** Creates a lock for work that goes on beside other work, or alone. It is granted in the order in which it is asked for. */
function createSharedLock() {
  const unfinished = new Set<Promise<void>>();
  let lastAlone: Promise<unknown> = Promise.resolve();

  function runAfter<T>(others: Promise<unknown>, work: () => Promise<T>): { result: Promise<T>; ended: Promise<void> } {
    const result = others.then(work);
    const forget = () => void unfinished.delete(ended);
    const ended: Promise<void> = result.then(forget, forget);
    unfinished.add(ended);
    return { result, ended };
  }

  return {
    shared: <T>(work: () => Promise<T>) => runAfter(lastAlone, work).result,
    /** Waits until all other work has ended; none begins until this has ended. */
    exclusive<T>(work: () => Promise<T>): Promise<T> {
      const { result, ended } = runAfter(Promise.all(unfinished), work);
      lastAlone = ended;
      return result;
    },
  };
}
