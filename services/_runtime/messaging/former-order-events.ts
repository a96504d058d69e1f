import { type ConsumerInfo, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "../observability/logger.ts";
import { buildEventStreamNames, eventRetentionMs, isStreamOrConsumerNotFound } from "./event-streams.ts";

interface RemoveFormerOrderEventsOptions {
  namespace: string;
  /** The maximum size of the stream `tills`, in bytes. */
  maxBytes: number;
  log: Logger;
  now?: number;
}

/**
 * The maximum duration of a request, in milliseconds. While NATS deletes events, which takes about a minute for 16 GB,
 * it accepts no events for the stream and does not respond to other requests about it.
 */
const timeoutMs = 10 * 60_000;

/**
 * Deletes the order events that version 1.0 has published to the stream `tills` and that its consumers have
 * acknowledged, if the stream is more than half full, so that it has room for other events. Otherwise, they expire.
 * Events that wait for a consumer stay.
 *
 * Two weeks after the stream of order events was created, when no instance of version 1.0 publishes any longer, also
 * deletes the consumers that have handled everything.
 *
 * Errors are only logged, because the events expire anyway.
 */
export async function removeFormerOrderEvents(
  nats: NatsConnection,
  { namespace, maxBytes, log, now = Date.now() }: RemoveFormerOrderEventsOptions,
): Promise<void> {
  const { tills } = buildEventStreamNames(namespace);
  try {
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: timeoutMs });
    const consumers: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(tills))
      if (consumer.config.filter_subject?.startsWith(`${namespace}.order.`)) consumers.push(consumer);
    if (consumers.length === 0) return;
    const { state } = await manager.streams.info(tills);
    if (maxBytes > 0 && state.bytes > maxBytes / 2)
      await purgeHandledEvents(manager, { stream: tills, consumers, log });
    if (!(await isUpgradeComplete(manager, { namespace, now }))) return;
    for (const { name, num_pending, num_ack_pending } of consumers)
      if (num_pending + num_ack_pending === 0) await manager.consumers.delete(tills, name);
  } catch (error) {
    log.warn({ err: error }, "order events in the stream of version 1.0 could not be deleted");
  }
}

/** Deletes the events that all consumers of their subject have acknowledged. */
async function purgeHandledEvents(
  manager: JetStreamManager,
  { stream, consumers, log }: { stream: string; consumers: ConsumerInfo[]; log: Logger },
): Promise<void> {
  for (const filter of new Set(consumers.map(({ config }) => config.filter_subject ?? ""))) {
    const sameFilter = consumers.filter(({ config }) => config.filter_subject === filter);
    const handled = Math.min(...sameFilter.map(({ ack_floor }) => ack_floor.stream_seq));
    // Without a sequence number, all events of the subject would be deleted.
    if (handled === 0) continue;
    const { purged } = await manager.streams.purge(stream, { filter, seq: handled + 1 });
    log.info({ filter, purged }, "handled order events deleted from the stream of version 1.0");
  }
}

async function isUpgradeComplete(
  manager: JetStreamManager,
  { namespace, now }: { namespace: string; now: number },
): Promise<boolean> {
  try {
    const { created } = await manager.streams.info(buildEventStreamNames(namespace).orders);
    return now - Date.parse(created) > eventRetentionMs;
  } catch (error) {
    if (isStreamOrConsumerNotFound(error)) return false;
    throw error;
  }
}
