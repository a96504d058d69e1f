import { isVersionAtLeast } from "../process/unusable-server-error.ts";
import type { ConsumerRewinder } from "./consumer-rewind.ts";
import type { EventBus } from "./event-bus.ts";
import { eventStreamKinds } from "./event-streams.ts";
import type { OutboxRelay } from "./outbox-relay.ts";

/** The oldest recommended version: it gets security fixes, and can write events to disk before it acknowledges them. */
const minVersion = "2.12.6";

/** Rejects while services repair a stream that has lost events, or a consumer that is ahead of its stream. */
export async function checkStreamIntegrity(
  { lossRepairs }: Pick<OutboxRelay, "lossRepairs">,
  rewinder: Pick<ConsumerRewinder, "listConsumersAhead">,
): Promise<void> {
  const streams = eventStreamKinds
    .filter((kind) => lossRepairs[kind].getRollbackSequences() > 0)
    .map((kind) => `the stream of ${kind} lacks events that it has acknowledged`);
  const consumers = [...rewinder.listConsumersAhead()].map(
    ([type, sequences]) => `the consumer of ${type} is ${sequences} sequences ahead of its stream`,
  );
  if (streams.length + consumers.length > 0) throw new Error([...streams, ...consumers].join("; "));
}

/** Rejects if a power cut may take events from a stream with one replica, as far as the version tells. */
export async function checkEventDurability(bus: EventBus, replicas: number): Promise<void> {
  const connection = bus.currentConnection();
  if (!connection) throw new Error("unknown, because NATS is not connected");
  const version = connection.nats.info?.version ?? "";
  if (replicas > 1 || isVersionAtLeast(version, minVersion)) return;
  throw new Error(
    `NATS ${version} is older than ${minVersion}, and may acknowledge events before they are on disk. ` +
      `Use NATS ${minVersion} or newer with sync_interval: always.`,
  );
}
