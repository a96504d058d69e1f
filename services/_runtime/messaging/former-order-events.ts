import type { ConsumerInfo, JetStreamManager } from "@nats-io/jetstream";
import type { Logger } from "../observability/logger.ts";
import { buildEventStreamNames, eventRetentionMs, isStreamOrConsumerNotFound } from "./event-streams.ts";

/**
 * Deletes the order events that version 1.0 has published to the stream `tills`, and that its consumers have
 * acknowledged, so that this stream has room for other events. Events that wait for a consumer stay. Two weeks after
 * the stream of order events was created, when no instance of version 1.0 publishes any longer, also deletes the
 * consumers that have handled everything. Errors are only logged, because the events expire anyway.
 */
export async function removeFormerOrderEvents(
  manager: JetStreamManager,
  { namespace, log }: { namespace: string; log: Logger },
): Promise<void> {
  const { tills } = buildEventStreamNames(namespace);
  try {
    const consumers: ConsumerInfo[] = [];
    for await (const consumer of manager.consumers.list(tills))
      if (consumer.config.filter_subject?.startsWith(`${namespace}.order.`)) consumers.push(consumer);
    const canDeleteConsumers = consumers.length > 0 && (await isUpgradeComplete(manager, namespace));
    for (const { name, config, num_pending, num_ack_pending } of consumers) {
      const filter = config.filter_subject ?? "";
      const handled = Math.min(
        ...consumers
          .filter((other) => other.config.filter_subject === filter)
          .map((other) => other.ack_floor.stream_seq),
      );
      // Deletes the events below this sequence number. A purge without a number would delete all events.
      const { purged } = handled > 0 ? await manager.streams.purge(tills, { filter, seq: handled + 1 }) : { purged: 0 };
      if (purged > 0) log.info({ filter, purged }, "handled order events deleted");
      if (canDeleteConsumers && num_pending + num_ack_pending === 0) await manager.consumers.delete(tills, name);
    }
  } catch (error) {
    log.warn({ err: error }, "order events in the stream of version 1.0 could not be deleted");
  }
}

async function isUpgradeComplete(manager: JetStreamManager, namespace: string): Promise<boolean> {
  try {
    const { created } = await manager.streams.info(buildEventStreamNames(namespace).orders);
    return Date.now() - Date.parse(created) > eventRetentionMs;
  } catch (error) {
    if (isStreamOrConsumerNotFound(error)) return false;
    throw error;
  }
}
