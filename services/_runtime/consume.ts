import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { type EventBus, isMissing } from "./event-bus.ts";
import { orAborted } from "./or-aborted.ts";
import { openOutageLog } from "./outage-log.ts";
import { retryDelay } from "./retry-delay.ts";
import { createSettler, type SettlerOptions } from "./settle-message.ts";
import { sleep } from "./sleep.ts";

interface Consuming<Services> extends SettlerOptions<Services> {
  bus: EventBus;
}

/** How long a message may be without a sign of life before it is delivered again, to whoever asks. */
const ackWait = 10_000;

/**
 * Handles a subscription's events until stopped: durable, so that nothing is missed while the process is away, and
 * acknowledged only once the handler's transaction has committed.
 */
export function startConsuming<Services>(consuming: Consuming<Services>): { stop(): Promise<void> } {
  const { subscription, log } = consuming;
  const stopping = new AbortController();
  const outage = openOutageLog(log, `${subscription.type} is not received`);
  const settle = createSettler(consuming);
  const inFlight = new Set<Promise<void>>();
  let messages: ConsumerMessages | undefined;

  async function consumeUntilGone(): Promise<void> {
    messages = await openConsumer(consuming, stopping.signal);
    outage.recovered();
    // Not awaited: that it is closed is among what is read below, and is done only when it is read.
    if (stopping.signal.aborted) void messages.close();
    for await (const message of messages) {
      if (stopping.signal.aborted) {
        // Fetched and not begun: another instance may have it at once.
        handBack(message);
        continue;
      }
      const handled = settle(message).finally(() => inFlight.delete(handled));
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
        outage.failed(error);
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

/** What JetStream calls a service's place in the events of a type. */
export function consumerNameOf(service: string, type: string): string {
  return `${service}-${type.replaceAll(".", "-")}`;
}

function handBack(message: JsMsg): void {
  try {
    message.nak();
  } catch {
    // Without a connection it comes back by itself.
  }
}

async function openConsumer<Services>(
  { service, subscription, bus }: Consuming<Services>,
  signal: AbortSignal,
): Promise<ConsumerMessages> {
  const { client, manager } = await orAborted(bus.connected, signal);
  await bus.ensureStream();
  const durable = consumerNameOf(service, subscription.type);
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
    // As many as are handled at a time: one that waits here is one that another instance could have.
    max_messages: Math.max(2, subscription.concurrency),
    expires: 5_000,
    abort_on_missing_resource: true,
  });
}
