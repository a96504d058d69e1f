import {
  DiscardPolicy,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { type NatsConnection, nanos } from "@nats-io/transport-node";
import type { BusEventType } from "@pragma/contracts/events";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import type { Logger } from "../observability/logger.ts";
import { createBusRequests } from "./bus-requests.ts";
import {
  buildEventStreamNames,
  buildEventSubjectFilter,
  buildSubjectPrefixes,
  type EventStreamKind,
  eventRetentionMs,
  eventStreamKinds,
  getEventStreamKind,
  isMissingInJetStream,
} from "./event-streams.ts";
import { createInstanceNotifier } from "./instance-notifier.ts";
import { checkNatsServer, connectToNats, type EventBusConnection, requireUsableNats } from "./nats-connection.ts";

type EventBusConfig = Pick<CommonServiceConfig, "NATS_URL" | "NAMESPACE" | "EVENT_STREAM_REPLICAS"> &
  Partial<CommonServiceConfig>;

const duplicateWindowMs = 2 * 60 * 1000;

/** The connection to NATS and to the JetStream streams that contain all events. */
export type EventBus = ReturnType<typeof createEventBus>;

/** Creates the event bus. It connects in the background as soon as NATS is available. */
export function createEventBus(config: EventBusConfig, { name, log }: { name: string; log: Logger }) {
  const closing = new AbortController();
  const streams = buildEventStreamNames(config.NAMESPACE);
  const subjectPrefixes = buildSubjectPrefixes(config.NAMESPACE);
  let connection: EventBusConnection | undefined;
  let isConnected = false;
  let connectionEpoch = 0;
  const connectionListeners: (() => void)[] = [];

  function recordConnection(): void {
    isConnected = true;
    connectionEpoch += 1;
    for (const listener of connectionListeners) listener();
  }

  async function watchConnectionStatus(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === "disconnect") log.warn("disconnected from NATS; reconnecting");
      if (type === "reconnect") log.info("reconnected to NATS");
      if (type === "reconnect") recordConnection();
      if (type === "disconnect" || type === "close") isConnected = false;
    }
  }

  const connecting = connectToNats(config, { name, signal: closing.signal, log });
  const connected = connecting.then(async (nats) => {
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: 5_000 });
    try {
      await requireUsableNats({ nats, manager, stream: streams.tills, url: config.NATS_URL });
    } catch (error) {
      await nats.close();
      throw error;
    }
    connection = { nats, client: jetstream(nats, { timeout: 10_000 }), manager };
    recordConnection();
    void watchConnectionStatus(nats);
    return connection;
  });
  connected.catch(() => {});
  const currentConnection = () => (isConnected ? connection : undefined);
  const state = { namespace: config.NAMESPACE, connected, currentConnection };

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
    const maxBytes = kind === "tills" ? config.TILL_EVENT_STREAM_MAX_BYTES : config.ORDER_EVENT_STREAM_MAX_BYTES;
    const limit = { max_bytes: maxBytes ?? -1 };
    try {
      const { state } = await manager.streams.info(name);
      // A limit below the current size would delete events, so it is not applied until enough events have expired.
      await manager.streams.update(name, { ...updatableConfig, ...(state.bytes <= limit.max_bytes && limit) });
    } catch (error) {
      if (!isMissingInJetStream(error)) throw error;
      const fixedConfig = { name, storage: StorageType.File, retention: RetentionPolicy.Limits };
      await manager.streams.add({ ...fixedConfig, ...updatableConfig, ...limit }).catch((cause) => {
        throw explainMissingStorage(cause, { name, maxBytes: limit.max_bytes });
      });
    }
  }

  return {
    streams,
    /** The first token of the subjects of each stream. */
    subjectPrefixes,
    /** Rejects if the bus is closed before it connects, or with `UnusableServerError` if an operator must help. */
    connected,
    currentConnection,
    /** Returns the number of the current or last connection to NATS, which each reconnect increases; 0 before the first. */
    connectionEpoch: () => connectionEpoch,
    onConnected: (listener: () => void) => void connectionListeners.push(listener),
    async checkConnection(): Promise<void> {
      if (!isConnected) throw new Error("not connected");
    },
    /** Rejects if NATS does not accept a new connection, whatever the state of the current one. */
    checkServer: () => checkNatsServer(config, name),
    /** Returns the subject of an event, which ends with the location id, or with `none` if there is no location. */
    buildSubject: (type: BusEventType, locationId: string | null) =>
      `${subjectPrefixes[getEventStreamKind(type)]}.${type}.${locationId ?? "none"}`,
    buildSubjectFilter: (type: BusEventType) => buildEventSubjectFilter(config.NAMESPACE, type),
    async readStreamUsage(kind: EventStreamKind): Promise<number> {
      const { manager } = await connected;
      const { state, config: stored } = await manager.streams.info(streams[kind]);
      return stored.max_bytes > 0 ? state.bytes / stored.max_bytes : 0;
    },
    createInstanceNotifier: (topic: string) => createInstanceNotifier(topic, state),
    ...createBusRequests(state, log),
    /** Creates or updates a stream. With `MIGRATE=off`, changes nothing and rejects if the stream does not exist. */
    ensureStream,
    async close(): Promise<void> {
      closing.abort();
      isConnected = false;
      await connection?.nats.close();
    },
  };
}

/** The codes of JetStream's errors about a stream that needs more storage than a server has, alone or in a cluster. */
const missingStorageCodes: readonly number[] = [10005, 10023, 10047];

/** Returns an error that tells operators what to change if NATS has too little storage, otherwise the same error. */
function explainMissingStorage(error: unknown, { name, maxBytes }: { name: string; maxBytes: number }): unknown {
  if (!(error instanceof JetStreamApiError) || !missingStorageCodes.includes(error.code)) return error;
  const advice = "Increase max_file in nats.conf and the disk, or decrease the maximum sizes of the event streams.";
  return new Error(`NATS cannot reserve ${maxBytes} bytes for the stream ${name}. ${advice}`, { cause: error });
}

/** The share of a stream's maximum size from which it is reported as nearly full, as by the alert EventStreamFills. */
const nearlyFullRatio = 0.7;

/** Rejects with the streams that are at least 70 % full. @throws `Error` if there is no connection to NATS. */
export async function checkEventStreamUsage(bus: EventBus): Promise<void> {
  if (!bus.currentConnection()) throw new Error("unknown, because NATS is not connected");
  const usages = await Promise.all(
    eventStreamKinds.map(async (kind) => ({ name: bus.streams[kind], usage: await bus.readStreamUsage(kind) })),
  );
  const full = usages.filter(({ usage }) => usage >= nearlyFullRatio);
  if (full.length === 0) return;
  throw new Error(full.map(({ name, usage }) => `${name} is ${Math.floor(usage * 100)} % full`).join("; "));
}
