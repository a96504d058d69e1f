import { randomUUID } from "node:crypto";
import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { LRUCache } from "lru-cache";
import { type EventBus, isMissing } from "./event-bus.ts";
import { handleEvent, readEnvelope } from "./handle-event.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { park } from "./parked-messages.ts";
import { isPassing, PermanentError } from "./passing-cause.ts";
import type { Database } from "./postgres.ts";
import { withRequestContext } from "./request-context.ts";
import { retryDelay } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";
import type { Subscription } from "./subscription.ts";

interface Consuming<Services> {
  service: string;
  subscription: Subscription<Services>;
  database: Database;
  services: Services;
  bus: EventBus;
  log: Logger;
  metrics: Metrics;
}

const ackWait = 30_000;
const heartbeat = 10_000;
/** How often an event whose failure nobody can explain is tried before it is parked. */
const triesUnexplained = 5;

/**
 * Handles a subscription's events until stopped: durable, so that nothing is missed while the process is away, and
 * acknowledged only once the handler's transaction has committed.
 */
export function startConsuming<Services>(consuming: Consuming<Services>): { stop(): Promise<void> } {
  const { subscription, log } = consuming;
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const unexplained = new LRUCache<string, number>({ max: 10_000 });
  let messages: ConsumerMessages | undefined;

  async function consumeUntilGone(): Promise<void> {
    messages = await openConsumer(consuming);
    if (stopping.signal.aborted) await messages.close();
    for await (const message of messages) {
      if (stopping.signal.aborted) break;
      const handled = settle(message, consuming, unexplained).finally(() => inFlight.delete(handled));
      inFlight.add(handled);
      if (inFlight.size >= subscription.concurrency) await Promise.race(inFlight);
    }
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      try {
        await consumeUntilGone();
        failures = 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (failures === 0)
          log.warn({ err: error, event: subscription.type }, "not receiving events; trying until they come");
      }
      await sleep(retryDelay(failures + 1, { longest: 2_000 }), stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await messages?.close();
      await running;
      await Promise.all(inFlight);
    },
  };
}

async function openConsumer<Services>({ service, subscription, bus }: Consuming<Services>): Promise<ConsumerMessages> {
  const { client, manager } = await bus.connected;
  await bus.ensureStream();
  const durable = `${service}-${subscription.type.replaceAll(".", "-")}`;
  const adjustable = { ack_wait: nanos(ackWait), max_deliver: -1, max_ack_pending: 10_000 };
  try {
    await manager.consumers.update(bus.stream, durable, adjustable);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await manager.consumers.add(bus.stream, {
      ...adjustable,
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      filter_subject: bus.subjectsOf(subscription.type),
    });
  }
  const consumer = await client.consumers.get(bus.stream, durable);
  return consumer.consume({
    max_messages: Math.max(2, subscription.concurrency),
    expires: 5_000,
    abort_on_missing_resource: true,
  });
}

/** Brings one message to an end: handled and acknowledged, handed back to come again, or parked. Never throws. */
async function settle<Services>(
  message: JsMsg,
  consuming: Consuming<Services>,
  unexplained: LRUCache<string, number>,
): Promise<void> {
  const { subscription, database, log, metrics, service } = consuming;
  const started = performance.now();
  const body = message.string();
  const alive = setInterval(() => message.working(), heartbeat);
  try {
    const envelope = readEnvelope(body);
    await withRequestContext(
      { requestId: envelope.id, traceparent: envelope.traceparent },
      async ({ trace, logFields }) => {
        const fields = {
          event: envelope.type,
          eventId: envelope.id,
          subject: envelope.subject,
          traceId: trace.traceId,
        };
        try {
          const hadEffect = await handleEvent(envelope, consuming);
          message.ack();
          metrics.eventHandled({
            service,
            event: envelope.type,
            outcome: hadEffect ? "done" : "repeated",
            seconds: since(started),
          });
          log.info({ ...fields, ...logFields, hadEffect, milliseconds: since(started) * 1000 }, "event");
        } catch (error) {
          const tries = isPassing(error) ? 0 : (unexplained.get(envelope.id) ?? 0) + 1;
          unexplained.set(envelope.id, tries);
          const isHopeless = error instanceof PermanentError || tries >= triesUnexplained;
          metrics.eventHandled({
            service,
            event: envelope.type,
            outcome: isHopeless ? "parked" : "retried",
            seconds: since(started),
          });
          log.error(
            { ...fields, ...logFields, err: error, deliveries: message.info.deliveryCount, isHopeless },
            "event failed",
          );
          if (!isHopeless) return message.nak(retryDelay(message.info.deliveryCount, { first: 250, longest: 30_000 }));
          await park(database.sql, {
            event_id: envelope.id,
            subscription: subscription.type,
            type: envelope.type,
            body,
            reason: reasonOf(error),
          });
          message.ack();
        }
      },
    );
  } catch (error) {
    if (!(error instanceof PermanentError))
      return message.nak(retryDelay(message.info.deliveryCount, { first: 250, longest: 30_000 }));
    log.error({ err: error, subject: message.subject }, "message is no event; parked");
    await park(database.sql, {
      event_id: randomUUID(),
      subscription: subscription.type,
      type: message.subject,
      body,
      reason: reasonOf(error),
    }).then(
      () => message.ack(),
      () => message.nak(1_000),
    );
  } finally {
    clearInterval(alive);
  }
}

/** What an operator is told: the error and what caused it. */
export function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at !== undefined && parts.length < 5; at = at instanceof Error ? at.cause : undefined) {
    parts.push(at instanceof Error ? `${at.name}: ${at.message}` : String(at));
  }
  return parts.join(" <- ").slice(0, 4_000);
}

/** Seconds since a time of `performance.now()`. */
function since(started: number): number {
  return (performance.now() - started) / 1000;
}
