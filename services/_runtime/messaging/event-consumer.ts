import { setImmediate } from "node:timers/promises";
import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { BusEventType } from "@pragma/contracts/events";
import { Admission } from "../admission/admission.ts";
import { computePauseMs, isContended, recordSender } from "../admission/contention.ts";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { repeatWithBackoffUntilAborted } from "../retries/transient-error.ts";
import { createConsumerProgress, type HeldMessage } from "./consumer-progress.ts";
import type { EventBus } from "./event-bus.ts";
import {
  createEventMessageHandler,
  type HandlerDependencies,
  parseEventDataRevision,
  runIgnoringMessageAckErrors,
} from "./event-message-handler.ts";
import { getEventStreamKind, isMissingInJetStream } from "./event-streams.ts";
import { parseEventEnvelope } from "./handle-event.ts";

interface EventConsumerOptions<Services> extends HandlerDependencies<Services> {
  bus: EventBus;
}

/** JetStream redelivers a message after this time without a heartbeat or acknowledgment, in milliseconds. */
const ackWaitMs = 10_000;
const heartbeatIntervalMs = 3_000;
const batchSize = 64;
/** How long the server waits for messages before a consumer asks again, in milliseconds. Each request costs CPU time. */
const fetchTimeoutMs = 5 * 60_000;
/** While it waits, the server sends a message at this interval. Without two of them, the consumer asks again. */
const fetchHeartbeatMs = 15_000;
const maxAckPending = 100_000;
/** While so many messages are ready, the consumer reads no others, which stay in the stream for other instances. */
const maxReadyPerHandler = 4;
/** If most messages wait for earlier ones of their own location, those of others come later in the stream. */
const maxReadAheadMessages = 1_000;
const maxHeldMessages = 5_000;
const maxHeldBytes = 16 * 1024 * 1024;
/** How long a stopping consumer waits for its handlers, in milliseconds. It then returns their messages. */
const drainTimeoutMs = 5_000;

/**
 * Handles the events of a subscription until `stop` is called. The consumer is durable, and acknowledges an event only
 * after its handler has committed or it is a dead letter. Locations take turns. If events have revisions, the highest
 * one of a subject is handled first.
 */
export function startEventConsumer<Services>(options: EventConsumerOptions<Services>) {
  const { subscription, log } = options;
  const { concurrency, hasRevisions } = subscription;
  const stopping = new AbortController();
  const messageHandler = createEventMessageHandler(options);
  const queue = new Admission({
    perProcess: concurrency,
    perSender: () => (hasRevisions || isContended() ? 1 : Math.max(1, Math.floor(concurrency * 0.75))),
  });
  /** The received messages that have not been settled yet, by their sequence and time in the stream. */
  const held = new Map<string, HeldMessage>();
  const progress = createConsumerProgress(held, async () => consumer?.info());
  /** The messages that wait for a handler, by subject, or each on its own if events have no revisions. */
  const waiting = new Map<string, { message: JsMsg; revision: number }[]>();
  const handling = new Set<Promise<void>>();
  let heldBytes = 0;
  let onSettled = () => {};
  let consumer: Consumer | undefined;
  let messages: ConsumerMessages | undefined;
  // A new connection does not know the request for messages that was sent on the earlier one.
  options.bus.onConnected(() => void messages?.close());
  /** Set only while messages are held, because a timer of each consumer would wake an idle process several times a second. */
  let heartbeatTimer: NodeJS.Timeout | undefined;

  function sendHeartbeats(): void {
    for (const { message, deliveryEpoch } of held.values())
      if (deliveryEpoch === options.bus.connectionEpoch()) runIgnoringMessageAckErrors(() => message.working());
    heartbeatTimer = held.size > 0 ? setTimeout(sendHeartbeats, heartbeatIntervalMs) : undefined;
  }

  function holdMessage(message: JsMsg): void {
    const delivery = { message, deliveryEpoch: options.bus.connectionEpoch() };
    const holding = held.get(getMessageKey(message));
    // The message in flight is settled by the acknowledgment of its latest delivery.
    if (holding) return void Object.assign(holding, delivery);
    if (stopping.signal.aborted) return void runIgnoringMessageAckErrors(() => message.nak());
    held.set(getMessageKey(message), { ...delivery, receivedAtMs: performance.now(), startedAtMs: undefined });
    heartbeatTimer ??= setTimeout(sendHeartbeats, heartbeatIntervalMs);
    progress.recordReceived();
    heldBytes += message.data.length;
    const { subjectKey, revision } = hasRevisions
      ? readSubjectAndRevision(message)
      : { subjectKey: `${message.seq}`, revision: 0 };
    const group = [...(waiting.get(subjectKey) ?? []), { message, revision }];
    waiting.set(subjectKey, hasRevisions ? group.sort((a, b) => a.revision - b.revision) : group);
    const locationId = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const handled = handleNextInTurn(subjectKey, locationId).finally(() => handling.delete(handled));
    handling.add(handled);
  }

  /** Handles the next message of a subject in the location's turn, after which it may have to pause. */
  async function handleNextInTurn(subjectKey: string, locationId: string): Promise<void> {
    const permit = await queue.acquire(locationId);
    const startedAtMs = performance.now();
    try {
      recordSender(locationId);
      // Many messages arrive at once. Requests are answered between the handlers of two of them.
      await setImmediate();
      await handleNext(subjectKey);
    } finally {
      // Without capacity, the events of other locations wait in the stream until these are handled.
      const canPause = queue.getWaitingCount(locationId) > 0 && hasCapacity() && !stopping.signal.aborted;
      permit.release(canPause ? computePauseMs(locationId, startedAtMs) : 0);
    }
  }

  /** Handles the waiting message with the highest revision of a subject. Called once for each received message. */
  async function handleNext(subjectKey: string): Promise<void> {
    const group = waiting.get(subjectKey);
    const next = group?.pop()?.message;
    if (group?.length === 0) waiting.delete(subjectKey);
    if (!next) return;
    const holding = held.get(getMessageKey(next));
    if (holding) holding.startedAtMs = performance.now();
    const outcome = await messageHandler.handleMessage(next, () => findCurrentDelivery(next));
    held.delete(getMessageKey(next));
    progress.recordOutcome(outcome);
    heldBytes -= next.data.length;
    onSettled();
  }

  /** Returns the delivery by which a message is settled; undefined if it must be delivered again first. */
  function findCurrentDelivery(received: JsMsg): JsMsg | undefined {
    const { message, deliveryEpoch } = held.get(getMessageKey(received)) ?? {};
    return deliveryEpoch === options.bus.connectionEpoch() ? message : undefined;
  }

  function hasCapacity(): boolean {
    if (held.size + batchSize > maxHeldMessages || heldBytes >= maxHeldBytes) return false;
    const { ready, behindOwnSender } = queue.countWaiting();
    return ready < maxReadyPerHandler * concurrency || (behindOwnSender > ready && held.size < maxReadAheadMessages);
  }

  async function readBatch(consumer: Consumer): Promise<void> {
    messages = await consumer.fetch({
      ...{ max_messages: batchSize, expires: fetchTimeoutMs, idle_heartbeat: fetchHeartbeatMs },
    });
    // Not awaited, because the promise resolves only after the loop below has read all messages.
    if (stopping.signal.aborted) void messages.close();
    let count = 0;
    for await (const message of messages) {
      count += 1;
      holdMessage(message);
    }
    // If the consumer was deleted with its stream, reading may end without messages or an error, but `info` throws.
    if (count === 0 && !stopping.signal.aborted) await consumer.info();
  }

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
  const running = repeatWithBackoffUntilAborted(stopping.signal, outage, readNextBatch);
  return {
    type: subscription.type,
    progress,
    async stop() {
      stopping.abort();
      onSettled();
      const closed = Promise.all([messages?.close(), running]);
      // Returns the waiting messages to JetStream, so that another instance can handle them immediately.
      for (const { message } of [...waiting.values()].flat()) runIgnoringMessageAckErrors(() => message.nak());
      waiting.clear();
      // If an error stops the process, the attempts stay recorded, because a message may have caused the error.
      const withdrawn = process.exitCode ? undefined : messageHandler.withdrawAttempts().catch(() => {});
      const drainTimer = setTimeout(messageHandler.abandonHandlers, drainTimeoutMs);
      await Promise.all(handling);
      clearTimeout(drainTimer);
      clearTimeout(heartbeatTimer);
      await Promise.all([closed, withdrawn]);
    },
  };
}

const getMessageKey = ({ seq, timestampNanos }: JsMsg): string => `${seq} ${timestampNanos}`;

function readSubjectAndRevision(message: JsMsg): { subjectKey: string; revision: number } {
  try {
    const { subject, data } = parseEventEnvelope(message.string());
    return { subjectKey: subject, revision: parseEventDataRevision(data) ?? 0 };
  } catch {
    // Ignores the error, because the handler parses the message again and stores it as a dead letter.
    return { subjectKey: `${message.seq}`, revision: 0 };
  }
}

export function buildNatsConsumerName(service: string, type: string): string {
  return `${service}-${type.replaceAll(".", "-")}`;
}

/** Returns the configuration of a service's consumer of an event type, which reads the whole stream. */
export function buildConsumerConfig(service: string, type: BusEventType, bus: EventBus): Partial<ConsumerConfig> {
  return {
    ...updatableConfig,
    durable_name: buildNatsConsumerName(service, type),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    filter_subject: bus.buildSubjectFilter(type),
  };
}

const updatableConfig = { ack_wait: nanos(ackWaitMs), max_deliver: -1, max_ack_pending: maxAckPending };

async function getOrCreateConsumer<Services>(
  { service, subscription, bus }: EventConsumerOptions<Services>,
  signal: AbortSignal,
): Promise<Consumer> {
  const { client, manager } = await racePromiseWithAbort(bus.connected, signal);
  const kind = getEventStreamKind(subscription.type);
  await bus.ensureStream(kind);
  const stream = bus.streams[kind];
  const durable = buildNatsConsumerName(service, subscription.type);
  try {
    await manager.consumers.update(stream, durable, updatableConfig);
  } catch (error) {
    if (!isMissingInJetStream(error)) throw error;
    await manager.consumers.add(stream, buildConsumerConfig(service, subscription.type, bus));
  }
  return client.consumers.get(stream, durable);
}
