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
import { type ConnectionOptions, connect, type NatsConnection, nanos } from "@nats-io/transport-node";
import type { EventType } from "@pragma/contracts/events";
import type { RuntimeConfig } from "./config.ts";
import type { Logger } from "./logger.ts";
import { retryDelay } from "./retry-delay.ts";
import { type ServerTls, tlsPaths } from "./server-tls.ts";
import { sleep } from "./sleep.ts";

/** A live connection to NATS. It reconnects by itself whenever it is lost. */
export interface BusConnection {
  nats: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** The one stream that all events are in, and the way to it. */
export interface EventBus {
  stream: string;
  /** Resolves once NATS has been reached for the first time; rejects when the bus is closed before that. */
  connected: Promise<BusConnection>;
  /** The connection while it is up; undefined otherwise. */
  current(): BusConnection | undefined;
  /** `<namespace>.<type>.<locationId>`; events of no location have `none`. */
  subjectOf(type: EventType, locationId: string | null): string;
  /** Every subject of an event type. */
  subjectsOf(type: EventType): string;
  /** `<namespace>-signals.<topic>.<locationId>`: what is sent there reaches who listens now, and is kept nowhere. */
  signalSubject(topic: string, locationId: string): string;
  /** Makes the stream when it is not there, also after somebody deleted it; rejects where this process may not. */
  ensureStream(): Promise<void>;
  close(): Promise<void>;
}

const day = 24 * 60 * 60 * 1000;
const retention = 14 * day;
const duplicateWindow = 2 * 60 * 1000;

/** Opens the bus at once, whether NATS is there or not: the connection is made as soon as it is. */
export function openEventBus(
  config: Pick<RuntimeConfig, "NATS_URL" | "NAMESPACE" | "STREAM_REPLICAS"> &
    Partial<Pick<RuntimeConfig, "MIGRATE" | "EVENT_STREAM_MAX_BYTES">> &
    ServerTls,
  { name, log }: { name: string; log: Logger },
): EventBus {
  const closing = new AbortController();
  const stream = `${config.NAMESPACE}_events`;
  let live: BusConnection | undefined;
  let isUp = false;

  async function follow(nats: NatsConnection): Promise<void> {
    isUp = true;
    for await (const { type } of nats.status()) {
      if (type === "disconnect") log.warn("lost the connection to NATS; trying until it is back");
      if (type === "reconnect") log.info("connected to NATS again");
      if (type === "disconnect" || type === "reconnect" || type === "close") isUp = type === "reconnect";
    }
  }

  const connected = connectUntilClosed(config, { name, log, signal: closing.signal }).then(async (nats) => {
    void follow(nats);
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: 5_000 });
    live = { nats, client: jetstream(nats, { timeout: 10_000 }), manager };
    return live;
  });
  connected.catch(() => {});

  return {
    stream,
    connected,
    current: () => (isUp ? live : undefined),
    subjectOf: (type, locationId) => `${config.NAMESPACE}.${type}.${locationId ?? "none"}`,
    subjectsOf: (type) => `${config.NAMESPACE}.${type}.>`,
    // No namespace has a hyphen, so no stream takes these.
    signalSubject: (topic, locationId) => `${config.NAMESPACE}-signals.${topic}.${locationId}`,
    async ensureStream() {
      const { manager } = await connected;
      if (config.MIGRATE === "off") return void (await manager.streams.info(stream));
      const wanted = {
        subjects: [`${config.NAMESPACE}.>`],
        max_age: nanos(retention),
        discard: DiscardPolicy.New,
        duplicate_window: nanos(duplicateWindow),
        num_replicas: config.STREAM_REPLICAS,
      };
      const maxBytes = config.EVENT_STREAM_MAX_BYTES;
      const limit = maxBytes === undefined ? {} : { max_bytes: maxBytes };
      try {
        const { state } = await manager.streams.info(stream);
        // A limit below what the stream holds would discard events: it waits until they are old.
        const isFitting = maxBytes !== undefined && state.bytes <= maxBytes;
        await manager.streams.update(stream, { ...wanted, ...(isFitting && limit) });
      } catch (error) {
        if (!isMissing(error)) throw error;
        const fixed = { name: stream, storage: StorageType.File, retention: RetentionPolicy.Limits };
        await manager.streams.add({ ...fixed, ...wanted, ...limit });
      }
    },
    async close() {
      closing.abort();
      isUp = false;
      await live?.nats.close();
    },
  };
}

/** Whether JetStream answered that a stream or consumer is not there. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError &&
    (error.code === JetStreamApiCodes.StreamNotFound || error.code === JetStreamApiCodes.ConsumerNotFound)
  );
}

async function connectUntilClosed(
  config: Pick<RuntimeConfig, "NATS_URL"> & ServerTls,
  { name, log, signal }: { name: string; log: Logger; signal: AbortSignal },
): Promise<NatsConnection> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const nats = await connect({
        ...accessOf(config),
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
      if (!signal.aborted) return nats;
      await nats.close();
    } catch (error) {
      if (attempt === 1) log.warn({ err: error }, "NATS is not reachable; trying until it is");
      await sleep(retryDelay(attempt, { first: 250, longest: 5_000 }), signal);
    }
  }
  throw new Error("The event bus was closed before NATS was reached.");
}

/** Servers, credentials and encryption as a URL tells them: `tls://user:password@host:4222,host:4223`. */
function accessOf({
  NATS_URL: url,
  ...tls
}: Pick<RuntimeConfig, "NATS_URL"> & ServerTls): Pick<
  ConnectionOptions,
  "servers" | "user" | "pass" | "token" | "tls"
> {
  const [first = url, ...others] = url.split(",");
  const { protocol, username, password, host } = new URL(first);
  const [user, pass] = [username, password].map(decodeURIComponent);
  return {
    servers: [host, ...others.map((other) => other.replace(/^.*(?:@|\/\/)/, ""))],
    ...(user && pass && { user, pass }),
    ...(user && !pass && { token: user }),
    ...(protocol === "tls:" && { tls: tlsPaths(tls) }),
  };
}
