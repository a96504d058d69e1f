import { randomUUID } from "node:crypto";
import type { JsMsg } from "@nats-io/jetstream";
import type { EventEnvelope } from "@pragma/contracts/events";
import { LRUCache } from "lru-cache";
import { handleEvent, readEnvelope } from "./handle-event.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { noteAttempt, park, settleAttempt, unparkSuperseded } from "./parked-messages.ts";
import { isPassing, PermanentError } from "./passing-cause.ts";
import type { Database } from "./postgres.ts";
import { withRequestContext } from "./request-context.ts";
import { retryDelay } from "./retry-delay.ts";
import type { Subscription } from "./subscription.ts";
import { failSpan, type Operation, SpanKind } from "./tracing.ts";

export interface SettlerOptions<Services> {
  service: string;
  subscription: Subscription<Services>;
  database: Database;
  services: Services;
  log: Logger;
  metrics: Metrics;
}

/** How often a message says that it is still being handled. */
const heartbeat = 3_000;
/** How often an event whose failure nobody can explain is tried before it is parked. */
const triesUnexplained = 5;
/** How often an event may take the process down with it before it is parked. */
const triesWithoutEnd = 10;

/** Brings messages to an end: handled and acknowledged, handed back to come again, or parked. Never rejects. */
export function createSettler<Services>(options: SettlerOptions<Services>): (message: JsMsg) => Promise<void> {
  const { service, subscription, database, log, metrics } = options;
  const unexplained = new LRUCache<string, number>({ max: 10_000 });

  return async function settle(message) {
    const alive = setInterval(() => quietly(() => message.working()), heartbeat);
    const body = message.string();
    try {
      const envelope = readEnvelope(body);
      const { id: requestId, traceparent } = envelope;
      await withRequestContext({ requestId, traceparent, operation: handlingOf(envelope, service) }, (context) =>
        handle(message, envelope, context),
      );
    } catch (error) {
      if (error instanceof PermanentError) await parkForeign(message, body, error);
      else handBack(message);
    } finally {
      clearInterval(alive);
    }
  };

  async function handle(
    message: JsMsg,
    envelope: EventEnvelope,
    { trace, span, logFields }: HandlingContext,
  ): Promise<void> {
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const { id: eventId, type: event, subject } = envelope;
    const fields = { event, eventId, subject, traceId: trace.traceId };
    const attempt = { event_id: eventId, subscription: subscription.type };
    const isAgain = message.info.deliveryCount > 1;
    try {
      if (isAgain && (await noteAttempt(database.sql, attempt)) > triesWithoutEnd) {
        throw new PermanentError(`The process ended ${triesWithoutEnd} times while it handled this.`);
      }
      const hadEffect = await handleEvent(envelope, options);
      if (isAgain) await settleAttempt(database.sql, attempt);
      if (subscription.isLatestOnly) await unparkSuperseded(database.sql, { subscription: subscription.type, subject });
      quietly(() => message.ack());
      metrics.eventHandled({ service, event, outcome: hadEffect ? "done" : "repeated", seconds: seconds() });
      log.info({ ...fields, ...logFields, hadEffect, milliseconds: seconds() * 1000 }, "event");
    } catch (error) {
      const tries = isPassing(error) ? 0 : (unexplained.get(eventId) ?? 0) + 1;
      unexplained.set(eventId, tries);
      const isHopeless = error instanceof PermanentError || tries >= triesUnexplained;
      if (span) failSpan(span, error);
      metrics.eventHandled({ service, event, outcome: isHopeless ? "parked" : "retried", seconds: seconds() });
      log.error(
        { ...fields, ...logFields, err: error, deliveries: message.info.deliveryCount, isHopeless },
        "event failed",
      );
      if (isAgain) await settleAttempt(database.sql, attempt);
      if (!isHopeless) return handBack(message);
      if (subscription.isLatestOnly) await unparkSuperseded(database.sql, { subscription: subscription.type, subject });
      await park(database.sql, { ...attempt, subject, type: event, body: message.string(), reason: reasonOf(error) });
      quietly(() => message.ack());
    }
  }

  /** What is no event of ours has no id and no subject, and can be kept all the same. */
  async function parkForeign(message: JsMsg, body: string, error: PermanentError): Promise<void> {
    log.error({ err: error, subject: message.subject }, "message is no event; parked");
    const row = {
      event_id: randomUUID(),
      subscription: subscription.type,
      subject: message.subject,
      type: message.subject,
    };
    await park(database.sql, { ...row, body, reason: reasonOf(error) }).then(
      () => quietly(() => message.ack()),
      () => handBack(message),
    );
  }
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

type HandlingContext = Parameters<Parameters<typeof withRequestContext>[1]>[0];

function handBack(message: JsMsg): void {
  quietly(() => message.nak(retryDelay(message.info.deliveryCount, { first: 250, longest: 30_000 })));
}

/** Without a connection nothing can be said of a message, and nothing needs to be: it comes again. */
function quietly(say: () => void): void {
  try {
    say();
  } catch {}
}

/** What an operator is told: the error and what caused it. */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; at = at instanceof Error ? at.cause : undefined) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
  }
  return parts.join(" <- ").slice(0, 4_000);
}
