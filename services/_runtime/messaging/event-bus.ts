import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { type ConnectionOptions, connect, type Msg, type NatsConnection, nanos } from "@nats-io/transport-node";
import type { EventType } from "@pragma/contracts/events";
import { sleep } from "../concurrency/sleep.ts";
import type { RuntimeConfig } from "../config/runtime-config.ts";
import type { Logger } from "../observability/logger.ts";
import { computeRetryDelayMs } from "../retries/retry-delay.ts";

type EventBusConfig = Pick<RuntimeConfig, "NATS_URL" | "NAMESPACE" | "STREAM_REPLICAS"> & Partial<RuntimeConfig>;

/** A live connection to NATS. It reconnects by itself whenever it is lost. */
export interface EventBusConnection {
  nats: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** The one stream that all events are in, and the way to it. */
export type EventBus = ReturnType<typeof createEventBus>;

/**
 * Hints between the instances of a service, heard by whoever listens at that moment and at most once. They make things
 * soon, not sure: what must not be missed is in the database.
 */
export interface InstanceNotifier {
  /** Never throws; while there is no connection to NATS nobody hears it. */
  publish(locationId: string, text: string): void;
  /** Calls `hear` with each signal that an instance sends, this one among them, from now until the process ends. */
  subscribe(listener: (locationId: string, text: string) => void): void;
}

const dayMs = 24 * 60 * 60 * 1000;
const retentionMs = 14 * dayMs;
const duplicateWindowMs = 2 * 60 * 1000;

/** Opens the bus at once, whether NATS is there or not: the connection is made as soon as it is. */
export function createEventBus(config: EventBusConfig, { name, log }: { name: string; log: Logger }) {
  const closing = new AbortController();
  const stream = `${config.NAMESPACE}_events`;
  let connection: EventBusConnection | undefined;
  let isConnected = false;

  async function watchConnectionStatus(nats: NatsConnection): Promise<void> {
    isConnected = true;
    for await (const { type } of nats.status()) {
      if (type === "disconnect") log.warn("lost the connection to NATS; trying until it is back");
      if (type === "reconnect") log.info("connected to NATS again");
      if (type === "disconnect" || type === "reconnect" || type === "close") isConnected = type === "reconnect";
    }
  }

  async function connectUntilClosed(): Promise<NatsConnection> {
    for (let attempt = 1; !closing.signal.aborted; attempt++) {
      try {
        const nats = await connect({
          ...buildConnectionOptions(config),
          name,
          // A prefix of its own, so that a server can keep each user from reading what others are answered.
          inboxPrefix: `_INBOX.${name}`,
          // Credentials that are refused may be right again in a moment, while they are being rotated.
          ignoreAuthErrorAbort: true,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 250,
          reconnectJitter: 250,
          pingInterval: 10_000,
          maxPingOut: 2,
          timeout: 5_000,
        });
        if (!closing.signal.aborted) return nats;
        await nats.close();
      } catch (error) {
        if (attempt === 1) log.warn({ err: error }, "NATS is not reachable; trying until it is");
        await sleep(computeRetryDelayMs(attempt, { first: 250, longest: 5_000 }), closing.signal);
      }
    }
    throw new Error("The event bus was closed before NATS was reached.");
  }

  const connected = connectUntilClosed().then(async (nats) => {
    void watchConnectionStatus(nats);
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: 5_000 });
    connection = { nats, client: jetstream(nats, { timeout: 10_000 }), manager };
    return connection;
  });
  connected.catch(() => {});

  return {
    stream,
    /** Resolves once NATS has been reached for the first time; rejects when the bus is closed before that. */
    connected,
    /** The connection while it is up; undefined otherwise. */
    currentConnection: () => (isConnected ? connection : undefined),
    /** `<namespace>.<type>.<locationId>`; events of no location have `none`. */
    buildSubject: (type: EventType, locationId: string | null) => `${config.NAMESPACE}.${type}.${locationId ?? "none"}`,
    /** Every subject of an event type. */
    buildSubjectFilter: (type: EventType) => `${config.NAMESPACE}.${type}.>`,
    /** Returns the signals of one topic. No namespace has a hyphen, so the stream takes none of them. */
    createInstanceNotifier(topic: string): InstanceNotifier {
      const subject = `${config.NAMESPACE}-signals.${topic}`;
      return {
        publish(locationId, text) {
          if (isConnected) connection?.nats.publish(`${subject}.${locationId}`, text);
        },
        subscribe(hear) {
          const callback = (error: Error | null, message: Msg) => {
            if (!error) hear(message.subject.split(".").at(-1) ?? "", message.string());
          };
          connected.then(({ nats }) => nats.subscribe(`${subject}.*`, { callback })).catch(() => {});
        },
      };
    },
    /** Makes the stream when it is not there, also after somebody deleted it; rejects where this process may not. */
    async ensureStream(): Promise<void> {
      const { manager } = await connected;
      if (config.MIGRATE === "off") return void (await manager.streams.info(stream));
      const wanted = {
        subjects: [`${config.NAMESPACE}.>`],
        max_age: nanos(retentionMs),
        discard: DiscardPolicy.New,
        duplicate_window: nanos(duplicateWindowMs),
        num_replicas: config.STREAM_REPLICAS,
      };
      const limit = { max_bytes: config.EVENT_STREAM_MAX_BYTES ?? -1 };
      try {
        const { state } = await manager.streams.info(stream);
        // A limit below what the stream holds would discard events: it waits until they are old.
        await manager.streams.update(stream, { ...wanted, ...(state.bytes <= limit.max_bytes && limit) });
      } catch (error) {
        if (!isStreamOrConsumerNotFound(error)) throw error;
        const fixed = { name: stream, storage: StorageType.File, retention: RetentionPolicy.Limits };
        await manager.streams.add({ ...fixed, ...wanted, ...limit });
      }
    },
    async close(): Promise<void> {
      closing.abort();
      isConnected = false;
      await connection?.nats.close();
    },
  };
}

/** Whether JetStream answered that a stream or consumer is not there. */
export function isStreamOrConsumerNotFound(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  );
}

/**
 * Servers, credentials and encryption as a URL tells them: `tls://user:password@host:4222,host:4223`. PEM files are given
 * by their paths: they are read anew with each connection.
 */
function buildConnectionOptions({
  NATS_URL: url,
  TLS_CA_FILE,
  TLS_CERT_FILE,
  TLS_KEY_FILE,
}: EventBusConfig): ConnectionOptions {
  const [first = url, ...others] = url.split(",");
  const { protocol, username, password, host } = new URL(first);
  const [user, pass] = [username, password].map(decodeURIComponent);
  return {
    servers: [host, ...others.map((other) => other.replace(/^.*(?:@|\/\/)/, ""))],
    ...(user && pass && { user, pass }),
    ...(user && !pass && { token: user }),
    ...(protocol === "tls:" && {
      tls: {
        ...(TLS_CA_FILE && { caFile: TLS_CA_FILE.path }),
        ...(TLS_CERT_FILE && { certFile: TLS_CERT_FILE.path }),
        ...(TLS_KEY_FILE && { keyFile: TLS_KEY_FILE.path }),
      },
    }),
  };
}
