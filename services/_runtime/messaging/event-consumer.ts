import { AckPolicy, type Consumer, type ConsumerMessages, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { rejectOnAbort } from "../concurrency/reject-on-abort.ts";
import { createKeyedSemaphore } from "../concurrency/semaphore.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { repeatUntilAborted } from "../retries/repeat-until-aborted.ts";
import { type EventBus, isStreamOrConsumerNotFound } from "./event-bus.ts";
import { parseEventEnvelope } from "./handle-event.ts";
import {
  createMessageSettler,
  ignoreMessageErrors,
  type MessageSettlerOptions,
  readEventRevision,
} from "./settle-message.ts";

interface EventConsumerOptions<Services> extends MessageSettlerOptions<Services> {
  bus: EventBus;
}

/** How long a message may go without a heartbeat before JetStream delivers it again. */
const ackWaitMs = 10_000;
/** How often a held message gets a heartbeat. */
const heartbeatIntervalMs = 3_000;
const batchSize = 64;
/** The maximum number of unacknowledged messages of all instances together. */
const maxAckPending = 100_000;
/**
 * Limits how many messages are read ahead. Reading ahead prevents one location from waiting for the messages of
 * another; it continues while few held messages are ready for a handler. The rest stays in the stream for other
 * instances.
 */
const maxReadyPerHandler = 4;
const maxHeldMessages = 5_000;
const maxHeldBytes = 16 * 1024 * 1024;

/**
 * Handles the events of a subscription until stopped. The consumer is durable, so that no event is missed while the
 * process is down, and acknowledges an event only after the handler's transaction has committed. Locations share the
 * handlers fairly, and the highest revision of a subject is handled first.
 */
export function startEventConsumer<Services>(options: EventConsumerOptions<Services>): { stop(): Promise<void> } {
  const { subscription, log } = options;
  const { concurrency, hasRevisions } = subscription;
  const stopping = new AbortController();
  const settler = createMessageSettler(options);
  const handlerSemaphore = createKeyedSemaphore(concurrency);
  /** Limits the messages of one location that have a handler or are ready for one. */
  const locationSemaphore = createKeyedSemaphore(hasRevisions ? 1 : Math.max(1, Math.floor(concurrency * 0.75)));
  /** The received messages that are neither acknowledged nor returned, by their sequence in the stream. */
  const held = new Map<number, JsMsg>();
  /** The messages whose handling has not begun, by subject, with the highest revision last. */
  const waiting = new Map<string, { message: JsMsg; revision: number }[]>();
  const handling = new Set<Promise<void>>();
  let heldBytes = 0;
  let readyCount = 0;
  let onSettled = () => {};
  let messages: ConsumerMessages | undefined;
  const heartbeatTimer = setInterval(() => {
    for (const message of held.values()) ignoreMessageErrors(() => message.working());
  }, heartbeatIntervalMs);

  function holdMessage(message: JsMsg): void {
    // A redelivery after a lost connection: settling the first delivery settles both.
    if (held.has(message.seq)) return;
    held.set(message.seq, message);
    heldBytes += message.data.length;
    const { subjectKey, revision } = hasRevisions
      ? readSubjectAndRevision(message)
      : { subjectKey: `${message.seq}`, revision: 0 };
    const group = [...(waiting.get(subjectKey) ?? []), { message, revision }];
    waiting.set(subjectKey, hasRevisions ? group.sort((a, b) => a.revision - b.revision) : group);
    const locationId = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const handled = locationSemaphore
      .run(() => {
        readyCount++;
        return handlerSemaphore.run(() => handleNext(subjectKey));
      }, locationId)
      .finally(() => handling.delete(handled));
    handling.add(handled);
  }

  /** Handles the newest waiting message about the same subject; called once for each message. */
  async function handleNext(subjectKey: string): Promise<void> {
    readyCount--;
    const group = waiting.get(subjectKey);
    const next = group?.pop()?.message;
    if (group?.length === 0) waiting.delete(subjectKey);
    if (!next) return;
    await settler.settleMessage(next);
    held.delete(next.seq);
    heldBytes -= next.data.length;
    onSettled();
  }

  const hasCapacity = () =>
    held.size + batchSize <= maxHeldMessages &&
    heldBytes < maxHeldBytes &&
    readyCount < maxReadyPerHandler * concurrency;

  async function readBatch(consumer: Consumer): Promise<void> {
    messages = await consumer.fetch({ max_messages: batchSize, expires: 5_000 });
    // Not awaited, because closing completes only when the loop below has read to the end.
    if (stopping.signal.aborted) void messages.close();
    let count = 0;
    for await (const message of messages) {
      count += 1;
      holdMessage(message);
    }
    // A consumer deleted with its stream may yield nothing instead of an error; this call then throws.
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

  const outage = createOutageLog(log, `cannot consume ${subscription.type}`);
  const running = repeatUntilAborted(stopping.signal, outage, readNextBatch);
  return {
    async stop() {
      stopping.abort();
      onSettled();
      await messages?.close();
      await running;
      // Returns the waiting messages, so that another instance can handle them immediately.
      for (const { message } of [...waiting.values()].flat()) ignoreMessageErrors(() => message.nak());
      waiting.clear();
      // After an error the attempts stay recorded, because one of the messages may have crashed the process.
      if (!process.exitCode) await settler.withdrawAttempts().catch(() => {});
      await Promise.all(handling);
      clearInterval(heartbeatTimer);
    },
  };
}

function readSubjectAndRevision(message: JsMsg): { subjectKey: string; revision: number } {
  try {
    const { subject, data } = parseEventEnvelope(message.string());
    return { subjectKey: subject, revision: readEventRevision(data) ?? 0 };
  } catch {
    // The handler reports the invalid envelope.
    return { subjectKey: `${message.seq}`, revision: 0 };
  }
}

/** Returns the name of a service's durable consumer for an event type. */
export function buildNatsConsumerName(service: string, type: string): string {
  return `${service}-${type.replaceAll(".", "-")}`;
}

async function getOrCreateConsumer<Services>(
  { service, subscription, bus }: EventConsumerOptions<Services>,
  signal: AbortSignal,
): Promise<Consumer> {
  const { client, manager } = await rejectOnAbort(bus.connected, signal);
  await bus.ensureStream();
  const durable = buildNatsConsumerName(service, subscription.type);
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
