import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import type { EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { handleEvent, readEnvelope, revisionIn } from "./handle-event.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import {
  type Attempt,
  countUnfinished,
  listParkedAbout,
  park,
  recordAttempt,
  settleAttempt,
  unpark,
  withdrawAttempts,
} from "./parked-messages.ts";
import type { Database } from "./postgres.ts";
import { reasonOf } from "./reason-of.ts";
import { type RequestContext, withRequestContext } from "./request-context.ts";
import { retryDelay } from "./retry-delay.ts";
import { createSharedLock } from "./shared-lock.ts";
import type { Subscription } from "./subscription.ts";
import { failSpan, type Operation, SpanKind } from "./tracing.ts";
import { isTransient, PermanentError } from "./transient-error.ts";

export interface SettlerOptions<Services> {
  service: string;
  subscription: Subscription<Services>;
  database: Database;
  services: Services;
  log: Logger;
  metrics: Metrics;
}

/** How often an event whose failure nobody can explain is tried before it is parked. */
const triesUnexplained = 5;
/**
 * How often the process may have ended during the recorded handlings of an event (those after its first delivery) before
 * it is handled alone, and before it is parked.
 */
const endsUntilAlone = 1;
const endsUntilParked = 3;

/** Of the whole process, whatever it handles: an event that ends the process takes all of it along. */
const processLock = createSharedLock();

/** What came of a message: handled and acknowledged, handed back to come again, or parked and acknowledged. */
export type Outcome = "handled" | "retried" | "parked";

/** Brings messages to an end. */
export interface Settler {
  /** Never rejects. */
  settle(message: JsMsg): Promise<Outcome>;
  /** Called when the process stops: what it does not wait for any longer did not end it. */
  withdraw(): Promise<void>;
}

export function createSettler<Services>(options: SettlerOptions<Services>): Settler {
  const { service, subscription, database, log, metrics } = options;
  const unexplained = new LRUCache<string, number>({ max: 10_000 });
  const attempts = new Set<Attempt>();

  async function settle(message: JsMsg): Promise<Outcome> {
    const body = message.string();
    try {
      const envelope = readEnvelope(body);
      const { id: requestId, traceparent } = envelope;
      return await withRequestContext({ requestId, traceparent, operation: handlingOf(envelope, service) }, (context) =>
        handle(message, envelope, context),
      );
    } catch (error) {
      if (error instanceof PermanentError) return parkForeign(message, body, error);
      handBack(message);
      return "retried";
    }
  }

  async function handle(message: JsMsg, envelope: EventEnvelope, context: RequestContext): Promise<Outcome> {
    const { trace, span, logFields } = context;
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const { id: eventId, type: event, subject } = envelope;
    const fields = { event, eventId, subject, traceId: trace.traceId };
    const attempt = { event_id: eventId, subscription: subscription.type };
    const isAgain = message.info.deliveryCount > 1;
    try {
      const hadEffect = isAgain
        ? await handleAgain(envelope, attempt, context)
        : await processLock.shared(() => handleEvent(envelope, { ...options, context }));
      if (isAgain) await settleAttempt(database.sql, attempt);
      await unparkMoot(envelope);
      quietly(() => message.ack());
      metrics.eventHandled({ service, event, outcome: hadEffect ? "done" : "repeated", seconds: seconds() });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event");
      return "handled";
    } catch (error) {
      const tries = isTransient(error) ? 0 : (unexplained.get(eventId) ?? 0) + 1;
      unexplained.set(eventId, tries);
      const isHopeless = error instanceof PermanentError || tries >= triesUnexplained;
      if (span) failSpan(span, error);
      metrics.eventHandled({ service, event, outcome: isHopeless ? "parked" : "retried", seconds: seconds() });
      log.error(
        { ...fields, ...logFields, err: error, deliveries: message.info.deliveryCount, isHopeless },
        "event failed",
      );
      if (isAgain) await settleAttempt(database.sql, attempt);
      if (!isHopeless) {
        handBack(message);
        return "retried";
      }
      await unparkMoot(envelope);
      await park(database.sql, { ...attempt, subject, type: event, body: message.string(), reason: reasonOf(error) });
      quietly(() => message.ack());
      return "parked";
    }
  }

  /** Handles what was delivered before: the process may have ended while it was handled. */
  async function handleAgain(envelope: EventEnvelope, attempt: Attempt, context: RequestContext): Promise<boolean> {
    const ends = await countUnfinished(database.sql, attempt);
    if (ends >= endsUntilParked) {
      throw new PermanentError(
        `The process ended ${ends} times while it handled this, at last when it did nothing else.`,
      );
    }
    const runLocked = ends >= endsUntilAlone ? processLock.exclusive : processLock.shared;
    return runLocked(async () => {
      attempts.add(attempt);
      try {
        await recordAttempt(database.sql, attempt);
        return await handleEvent(envelope, { ...options, context });
      } finally {
        attempts.delete(attempt);
      }
    });
  }

  /** Of what is about the same thing, nothing of this revision or a lower one need stay parked. */
  async function unparkMoot(envelope: EventEnvelope): Promise<void> {
    const revision = revisionIn(envelope, subscription);
    if (revision === undefined) return;
    const about = { subscription: subscription.type, subject: envelope.subject };
    for (const { event_id, body } of await listParkedAbout(database.sql, about)) {
      const parked = revisionIn(readEnvelope(body), subscription);
      if (parked === undefined || parked <= revision) await unpark(database, { ...about, event_id });
    }
  }

  /** What is no event of ours has no id and no subject, and can be kept all the same. */
  async function parkForeign(message: JsMsg, body: string, error: PermanentError): Promise<Outcome> {
    log.error({ err: error, subject: message.subject }, "message is no event; parked");
    const row = {
      event_id: randomUUID(),
      subscription: subscription.type,
      subject: message.subject,
      type: message.subject,
    };
    try {
      await park(database.sql, { ...row, body, reason: reasonOf(error) });
    } catch {
      handBack(message);
      return "retried";
    }
    quietly(() => message.ack());
    return "parked";
  }

  return {
    settle,
    withdraw: () => withdrawAttempts(database.sql, [...attempts]),
  };
}

/** What handling an event is called in a trace. */
export function handlingOf({ id, type, subject }: EventEnvelope, service: string): Operation {
  return {
    name: `${type} process`,
    kind: SpanKind.CONSUMER,
    attributes: {
      "pragma.service": service,
      "messaging.system": "nats",
      "messaging.operation.type": "process",
      "messaging.destination.name": type,
      "messaging.message.id": id,
      "pragma.subject": subject,
    },
  };
}

function handBack(message: JsMsg): void {
  quietly(() => message.nak(retryDelay(message.info.deliveryCount, { first: 250, longest: 30_000 })));
}

/** Without a connection nothing can be said of a message, and nothing needs to be: it comes again. */
export function quietly(say: () => void): void {
  try {
    say();
  } catch {}
}
