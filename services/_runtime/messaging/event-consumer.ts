import { AckPolicy, type Consumer, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { rejectOnAbort } from "../concurrency/reject-on-abort.ts";
import { createKeyedSemaphore } from "../concurrency/semaphore.ts";
import { createOutageLog, repeatUntilAborted } from "../observability/outage-log.ts";
import { type EventBus, isStreamOrConsumerNotFound } from "./event-bus.ts";
import { parseEventEnvelope } from "./handle-event.ts";
import { createMessageSettler, ignoreErrors, type MessageSettlerOptions, readRevision } from "./settle-message.ts";

interface EventConsumerOptions<Services> extends MessageSettlerOptions<Services> {
  bus: EventBus;
}

/** How long a message may be without a sign of life before it is delivered again, to whoever asks. */
const ackWaitMs = 10_000;
/** How often a message in hand gets one. */
const heartbeatIntervalMs = 3_000;
const batchSize = 64;
/** Messages that all instances together may have in hand. */
const maxAckPending = 100_000;
/**
 * Messages are read ahead so that no location's have to wait until those of another are handled: as long as few of those
 * in hand could begin if there were a handler, and up to so many or so large. More than that stays where another instance
 * can have it.
 */
const maxReadyPerHandler = 4;
const maxHeldMessages = 5_000;
const maxHeldBytes = 16 * 1024 * 1024;

/**
 * Handles a subscription's events until stopped: durable, so that nothing is missed while the process is away, and
 * acknowledged only once the handler's transaction has committed. Locations take turns, and of what is about one thing
 * the highest revision comes first.
 */
export function startEventConsumer<Services>(options: EventConsumerOptions<Services>): { stop(): Promise<void> } {
  const { subscription, log } = options;
  const { concurrency, hasRevisions } = subscription;
  const stopping = new AbortController();
  const settler = createMessageSettler(options);
  const handlerSemaphore = createKeyedSemaphore(concurrency);
  /** Of one location so many at most have a handler or wait for one. */
  const locationSemaphore = createKeyedSemaphore(hasRevisions ? 1 : Math.max(1, Math.floor(concurrency * 0.75)));
  /** By their sequence in the stream: what this instance was given and has not acknowledged or handed back. */
  const held = new Map<number, JsMsg>();
  /** What was not begun, by what it is about, the highest revision last. */
  const waiting = new Map<string, { message: JsMsg; revision: number }[]>();
  const handling = new Set<Promise<void>>();
  let heldBytes = 0;
  let ready = 0;
  let onSettled = () => {};
  let messages: ConsumerMessages | undefined;
  const heartbeatTimer = setInterval(() => {
    for (const message of held.values()) ignoreErrors(() => message.working());
  }, heartbeatIntervalMs);

  function holdMessage(message: JsMsg): void {
    // Delivered again while it is held, after a loss of connection: what is done with the first holds for both.
    if (held.has(message.seq)) return;
    held.set(message.seq, message);
    heldBytes += message.data.length;
    const { about, revision } = hasRevisions
      ? readSubjectAndRevision(message)
      : { about: `${message.seq}`, revision: 0 };
    const group = [...(waiting.get(about) ?? []), { message, revision }];
    waiting.set(about, hasRevisions ? group.sort((a, b) => a.revision - b.revision) : group);
    const locationId = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const handled = locationSemaphore
      .run(() => {
        ready++;
        return handlerSemaphore.run(() => handleNext(about));
      }, locationId)
      .finally(() => handling.delete(handled));
    handling.add(handled);
  }

  /** Each message brings one turn, which is for what then is the newest about the same thing. */
  async function handleNext(about: string): Promise<void> {
    ready--;
    const group = waiting.get(about);
    const next = group?.pop()?.message;
    if (group?.length === 0) waiting.delete(about);
    if (!next) return;
    await settler.settle(next);
    held.delete(next.seq);
    heldBytes -= next.data.length;
    onSettled();
  }

  const hasCapacity = () =>
    held.size + batchSize <= maxHeldMessages && heldBytes < maxHeldBytes && ready < maxReadyPerHandler * concurrency;

  async function readBatch(consumer: Consumer): Promise<void> {
    messages = await consumer.fetch({ max_messages: batchSize, expires: 5_000 });
    // Not awaited: that it is closed is among what is read below, and is done only when it is read.
    if (stopping.signal.aborted) void messages.close();
    let count = 0;
    for await (const message of messages) {
      count += 1;
      holdMessage(message);
    }
    // Of a consumer that went with its stream nothing comes any more, and not always an error: this one throws.
    if (count === 0 && !stopping.signal.aborted) await consumer.info();
  }

  let consumer: Consumer | undefined;
  async function readNextBatch(): Promise<void> {
    try {
      consumer ??= await getOrCreateConsumer(options, stopping.signal);
      if (hasCapacity()) await readBatch(consumer);
      else await new Promise<void>((resolve) => (onSettled = resolve));
    } catch (error) {
      consumer = undefined;
      throw error;
    }
  }

  const outage = createOutageLog(log, `${subscription.type} is not received`);
  const running = repeatUntilAborted(stopping.signal, outage, readNextBatch);
  return {
    async stop() {
      stopping.abort();
      onSettled();
      await messages?.close();
      await running;
      // What was not begun another instance may have at once.
      for (const { message } of [...waiting.values()].flat()) ignoreErrors(() => message.nak());
      waiting.clear();
      // A process that ends for an error is one that its messages may have ended.
      if (!process.exitCode) await settler.withdraw().catch(() => {});
      await Promise.all(handling);
      clearInterval(heartbeatTimer);
    },
  };
}

function readSubjectAndRevision(message: JsMsg): { about: string; revision: number } {
  try {
    const { subject, data } = parseEventEnvelope(message.string());
    return { about: subject, revision: readRevision(data) ?? 0 };
  } catch {
    // Whoever handles it finds out what is wrong with it.
    return { about: `${message.seq}`, revision: 0 };
  }
}

/** What JetStream calls a service's place in the events of a type. */
export function buildConsumerName(service: string, type: string): string {
  return `${service}-${type.replaceAll(".", "-")}`;
}

async function getOrCreateConsumer<Services>(
  { service, subscription, bus }: EventConsumerOptions<Services>,
  signal: AbortSignal,
): Promise<Consumer> {
  const { client, manager } = await rejectOnAbort(bus.connected, signal);
  await bus.ensureStream();
  const durable = buildConsumerName(service, subscription.type);
  const updatableConfig = { ack_wait: nanos(ackWaitMs), max_deliver: -1, max_ack_pending: maxAckPending };
  try {
    await manager.consumers.update(bus.stream, durable, updatableConfig);
  } catch (error) {
    if (!isStreamOrConsumerNotFound(error)) throw error;
    await manager.consumers.add(bus.stream, {
      ...updatableConfig,
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      filter_subject: bus.buildSubjectFilter(subscription.type),
    });
  }
  return client.consumers.get(bus.stream, durable);
}
