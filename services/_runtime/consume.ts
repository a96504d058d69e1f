import { AckPolicy, type Consumer, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { type EventBus, isMissing } from "./event-bus.ts";
import { readEnvelope } from "./handle-event.ts";
import { type HeldMessage, HeldMessages } from "./held-messages.ts";
import { orAborted } from "./or-aborted.ts";
import { openOutageLog, repeatUntilAborted } from "./outage-log.ts";
import { createSettler, quietly, revisionIn, type SettlerOptions } from "./settle-message.ts";

interface Consuming<Services> extends SettlerOptions<Services> {
  bus: EventBus;
}

/** How long a message may be without a sign of life before it is delivered again, to whoever asks. */
const ackWait = 10_000;
/** How often a message in hand gets one. */
const heartbeat = 3_000;
const batch = 64;
/** Messages that all instances together may have in hand. */
const maxPending = 100_000;

/**
 * Handles a subscription's events until stopped: durable, so that nothing is missed while the process is away, and
 * acknowledged only once the handler's transaction has committed. Locations take turns.
 */
export function startConsuming<Services>(consuming: Consuming<Services>): { stop(): Promise<void> } {
  const { subscription, log } = consuming;
  const { concurrency, hasRevisions } = subscription;
  const stopping = new AbortController();
  const settler = createSettler(consuming);
  const maxPerLocation = hasRevisions ? 1 : Math.max(1, Math.floor(concurrency * 0.75));
  const held = new HeldMessages({ concurrency, maxPerLocation });
  const inFlight = new Set<Promise<void>>();
  let messages: ConsumerMessages | undefined;
  const alive = setInterval(() => {
    for (const { message } of held.all()) quietly(() => message.working());
  }, heartbeat);

  function beginNext(): void {
    while (!stopping.signal.aborted && inFlight.size < concurrency) {
      const next = held.next();
      if (!next) return;
      const settled = settler.settle(next.message).then(() => {
        held.finish(next);
        inFlight.delete(settled);
        beginNext();
      });
      inFlight.add(settled);
    }
  }

  async function readBatch(consumer: Consumer): Promise<void> {
    messages = await consumer.fetch({ max_messages: batch, expires: 5_000 });
    // Not awaited: that it is closed is among what is read below, and is done only when it is read.
    if (stopping.signal.aborted) void messages.close();
    let count = 0;
    for await (const message of messages) {
      count += 1;
      held.add(toHeld(message, hasRevisions));
      beginNext();
    }
    // Of a consumer that went with its stream nothing comes any more, and not always an error: this one throws.
    if (count === 0 && !stopping.signal.aborted) await consumer.info();
  }

  let consumer: Consumer | undefined;
  async function readOn(): Promise<void> {
    try {
      consumer ??= await openConsumer(consuming, stopping.signal);
      if (held.hasRoomFor(batch)) await readBatch(consumer);
      else await orAborted(Promise.race(inFlight), stopping.signal);
    } catch (error) {
      consumer = undefined;
      throw error;
    }
  }

  const outage = openOutageLog(log, `${subscription.type} is not received`);
  const running = repeatUntilAborted(stopping.signal, outage, readOn);
  return {
    async stop() {
      stopping.abort();
      await messages?.close();
      await running;
      // What was not begun another instance may have at once.
      for (const { message } of held.takeWaiting()) quietly(() => message.nak());
      // A process that ends for an error is one that its messages may have ended.
      if (!process.exitCode) await settler.withdraw().catch(() => {});
      await Promise.all(inFlight);
      clearInterval(alive);
    },
  };
}

function toHeld(message: JsMsg, hasRevisions: boolean): HeldMessage {
  const locationId = message.subject.slice(message.subject.lastIndexOf(".") + 1);
  if (!hasRevisions) return { message, locationId, revision: 0 };
  try {
    const { subject, data } = readEnvelope(message.string());
    return { message, locationId, subject, revision: revisionIn(data) ?? 0 };
  } catch {
    // Whoever handles it finds out what is wrong with it.
    return { message, locationId, revision: 0 };
  }
}

/** What JetStream calls a service's place in the events of a type. */
export function consumerNameOf(service: string, type: string): string {
  return `${service}-${type.replaceAll(".", "-")}`;
}

async function openConsumer<Services>(
  { service, subscription, bus }: Consuming<Services>,
  signal: AbortSignal,
): Promise<Consumer> {
  const { client, manager } = await orAborted(bus.connected, signal);
  await bus.ensureStream();
  const durable = consumerNameOf(service, subscription.type);
  const adjustable = { ack_wait: nanos(ackWait), max_deliver: -1, max_ack_pending: maxPending };
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
  return client.consumers.get(bus.stream, durable);
}
