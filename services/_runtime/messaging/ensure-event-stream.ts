import { DiscardPolicy, JetStreamApiError, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import {
  buildEventStreamNames,
  buildSubjectPrefixes,
  type EventStreamKind,
  eventRetentionMs,
  isMissingInJetStream,
} from "./event-streams.ts";
import type { EventBusConnection } from "./nats-connection.ts";

type EventStreamConfig = Pick<CommonServiceConfig, "NAMESPACE" | "EVENT_STREAM_REPLICAS"> &
  Partial<CommonServiceConfig>;

const duplicateWindowMs = 2 * 60 * 1000;

/**
 * Returns a function that creates or updates a stream. With `MIGRATE=off`, it changes nothing, and rejects if the stream
 * does not exist.
 */
export function createEventStreamEnsurer(
  config: EventStreamConfig,
  { connected }: { connected: Promise<EventBusConnection> },
) {
  const streams = buildEventStreamNames(config.NAMESPACE);
  const subjectPrefixes = buildSubjectPrefixes(config.NAMESPACE);
  const maxBytes: Record<EventStreamKind, number> = {
    tills: config.TILL_EVENT_STREAM_MAX_BYTES ?? -1,
    orders: config.ORDER_EVENT_STREAM_MAX_BYTES ?? -1,
  };

  async function ensureStream(kind: EventStreamKind): Promise<void> {
    const { manager } = await connected;
    const name = streams[kind];
    if (config.MIGRATE === "off") return void (await manager.streams.info(name));
    const updatableConfig = {
      subjects: [`${subjectPrefixes[kind]}.>`],
      max_age: nanos(eventRetentionMs),
      discard: DiscardPolicy.New,
      duplicate_window: nanos(duplicateWindowMs),
      num_replicas: config.EVENT_STREAM_REPLICAS,
    };
    const limit = { max_bytes: maxBytes[kind] };
    try {
      const { state } = await manager.streams.info(name);
      // A limit below the current size would delete events, so it is not applied until enough events have expired.
      await manager.streams.update(name, { ...updatableConfig, ...(state.bytes <= limit.max_bytes && limit) });
    } catch (error) {
      if (!isMissingInJetStream(error)) throw error;
      const fixedConfig = { name, storage: StorageType.File, retention: RetentionPolicy.Limits };
      try {
        await manager.streams.add({ ...fixedConfig, ...updatableConfig, ...limit });
      } catch (cause) {
        throw explainMissingStorage(cause, { name, maxBytes: limit.max_bytes });
      }
    }
  }

  return ensureStream;
}

/** The codes of JetStream's errors about a stream that needs more storage than a server has, alone or in a cluster. */
const missingStorageCodes: readonly number[] = [10005, 10023, 10047];

/** Returns an error that tells operators what to change if NATS has too little storage, otherwise the same error. */
function explainMissingStorage(error: unknown, { name, maxBytes }: { name: string; maxBytes: number }): unknown {
  if (!(error instanceof JetStreamApiError) || !missingStorageCodes.includes(error.code)) return error;
  const advice = "Increase max_file in nats.conf and the disk, or decrease the maximum sizes of the event streams.";
  return new Error(`NATS cannot reserve ${maxBytes} bytes for the stream ${name}. ${advice}`, { cause: error });
}
