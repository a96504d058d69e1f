import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  nanos,
  type Subscription,
} from "@nats-io/transport-node";
import type { BusEventType } from "@pragma/contracts/events";
import { sleep } from "../concurrency/sleep.ts";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import { isTlsFailure, isVersionAtLeast, tlsAdvice, UnusableServerError } from "../process/unusable-server-error.ts";
import { computeRetryDelayMs } from "../retries/transient-error.ts";
import {
  buildEventStreamNames,
  buildEventSubjectFilter,
  buildSubjectPrefixes,
  type EventStreamKind,
  eventRetentionMs,
  eventStreamKinds,
  getEventStreamKind,
  isStreamOrConsumerNotFound,
} from "./event-streams.ts";
import { removeFormerOrderEvents } from "./former-order-events.ts";

type EventBusConfig = Pick<CommonServiceConfig, "NATS_URL" | "NAMESPACE" | "EVENT_STREAM_REPLICAS"> &
  Partial<CommonServiceConfig>;

/** A connection to NATS that reconnects automatically. */
export interface EventBusConnection {
  nats: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** The connection to NATS and to the JetStream streams that contain all events. */
export type EventBus = ReturnType<typeof createEventBus>;

/**
 * Sends notifications between the instances of a service. A notification can be lost, and only current subscribers
 * receive it. Use notifications only to react faster to changes that receivers can also find in the database.
 */
export interface InstanceNotifier {
  /** Publishes a notification. Never throws. If there is no connection to NATS, the notification is lost. */
  publish(locationId: string, text: string): void;
  /** Calls `listener` for each notification from all instances, including this one, until the event bus is closed. */
  subscribe(listener: (locationId: string, text: string) => void): void;
}

/** Sends a request over NATS. See `EventBus.request`. */
export type SendBusRequest = (topic: string, text: string, options: { timeoutMs: number }) => Promise<string>;

/** Answers requests over NATS. See `EventBus.answerRequests`. */
export interface BusRequestHandler<Services> {
  /** The last part of the subject, such as `accounts.usage`. It begins with the name of the service. */
  topic: string;
  /** Returns the reply. If it throws, the sender gets no reply, and its request times out. */
  handle(services: Services, text: string): Promise<string>;
}

const duplicateWindowMs = 2 * 60 * 1000;

/** Creates the event bus. It connects in the background as soon as NATS is available. */
export function createEventBus(config: EventBusConfig, { name, log }: { name: string; log: Logger }) {
  const closing = new AbortController();
  const streams = buildEventStreamNames(config.NAMESPACE);
  const subjectPrefixes = buildSubjectPrefixes(config.NAMESPACE);
  const maxBytes: Record<EventStreamKind, number> = {
    tills: config.TILL_EVENT_STREAM_MAX_BYTES ?? -1,
    orders: config.ORDER_EVENT_STREAM_MAX_BYTES ?? -1,
  };
  const hasSeparateOrderEvents = config.SEPARATE_ORDER_EVENTS ?? true;
  let formerOrderEventsRemoved: Promise<void> | undefined;
  let connection: EventBusConnection | undefined;
  let isConnected = false;
  let connectionEpoch = 0;

  async function watchConnectionStatus(nats: NatsConnection): Promise<void> {
    isConnected = true;
    connectionEpoch += 1;
    for await (const { type } of nats.status()) {
      if (type === "reconnect") connectionEpoch += 1;
      if (type === "disconnect") log.warn("disconnected from NATS; reconnecting");
      if (type === "reconnect") log.info("reconnected to NATS");
      if (type === "disconnect" || type === "reconnect" || type === "close") isConnected = type === "reconnect";
    }
  }

  async function connectUntilClosed(): Promise<NatsConnection> {
    let logAt = 0;
    for (let attempt = 1; !closing.signal.aborted; attempt++) {
      try {
        const nats = await connect({
          ...buildConnectionOptions(config),
          name,
          // Each service has its own prefix, so that NATS permissions can prevent it from reading replies to others.
          inboxPrefix: `_INBOX.${name}`,
          // Reconnects after rejected credentials, because a server can reject them for a short time during a rotation.
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
        const unusable = toUnusableNatsError(error, config.NATS_URL);
        if (unusable) throw unusable;
        if (Date.now() >= logAt) {
          log.warn({ reason: describeErrorChain(error) }, "waiting for NATS");
          logAt = Date.now() + logIntervalMs;
        }
        await sleep(computeRetryDelayMs(attempt, { firstMs: 250, maxMs: 5_000 }), closing.signal);
      }
    }
    throw new Error("The event bus was closed before it connected to NATS.");
  }

  const connected = connectUntilClosed().then(async (nats) => {
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: 5_000 });
    try {
      await requireUsableNats({ nats, manager, stream: streams.tills, url: config.NATS_URL });
    } catch (error) {
      await nats.close();
      throw error;
    }
    void watchConnectionStatus(nats);
    connection = { nats, client: jetstream(nats, { timeout: 10_000 }), manager };
    return connection;
  });
  connected.catch(() => {});

  async function ensureStream(kind: EventStreamKind): Promise<void> {
    const { nats, manager } = await connected;
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
      await manager.streams.info(name);
      if (kind === "tills") {
        formerOrderEventsRemoved ??= removeFormerOrderEvents(nats, {
          namespace: config.NAMESPACE,
          maxBytes: maxBytes.tills,
          log,
        });
        await formerOrderEventsRemoved;
      }
      const { state } = await manager.streams.info(name);
      // A limit below the current size would delete events, so it is not applied until enough events have expired.
      await manager.streams.update(name, { ...updatableConfig, ...(state.bytes <= limit.max_bytes && limit) });
    } catch (error) {
      if (!isStreamOrConsumerNotFound(error)) throw error;
      // An existing stream `tills` of version 1.0 has reserved the space of both streams, and is first made smaller.
      if (kind === "orders") await ensureStream("tills");
      const fixedConfig = { name, storage: StorageType.File, retention: RetentionPolicy.Limits };
      try {
        await manager.streams.add({ ...fixedConfig, ...updatableConfig, ...limit });
      } catch (cause) {
        throw explainMissingStorage(cause, { name, maxBytes: limit.max_bytes });
      }
    }
  }

  return {
    /** The names of the streams. */
    streams,
    /** The first token of the subjects of each stream. */
    subjectPrefixes,
    /** Whether order events are published to their own stream, instead of that of version 1.0. */
    hasSeparateOrderEvents,
    /**
     * Resolves with the connection after the first connect to NATS. Rejects if the bus is closed before then, or with
     * `UnusableServerError` if the server cannot be used before an operator helps.
     */
    connected,
    /** Returns the connection if NATS is connected, otherwise undefined. */
    currentConnection: () => (isConnected ? connection : undefined),
    /** Returns the number of the current or last connection to NATS, which each reconnect increases; 0 before the first. */
    connectionEpoch: () => connectionEpoch,
    /** Rejects while NATS is not connected. */
    async checkConnection(): Promise<void> {
      if (!isConnected) throw new Error("not connected");
    },
    /** Rejects if NATS does not accept a new connection, whatever the state of the current one. */
    async checkServer(): Promise<void> {
      const nats = await connect({ ...buildConnectionOptions(config), name, reconnect: false, timeout: 5_000 });
      await nats.close();
    },
    /** Returns the subject of an event, which ends with the location id, or with `none` if there is no location. */
    buildSubject: (type: BusEventType, locationId: string | null) =>
      `${subjectPrefixes[getEventStreamKind(type)]}.${type}.${locationId ?? "none"}`,
    /** Returns the subject on which version 1.0 publishes an event: always one of the stream `tills`. */
    buildFormerSubject: (type: BusEventType, locationId: string | null) =>
      `${subjectPrefixes.tills}.${type}.${locationId ?? "none"}`,
    /** Returns a filter for all subjects of an event type. */
    buildSubjectFilter: (type: BusEventType) => buildEventSubjectFilter(config.NAMESPACE, type),
    /** Returns a filter for all subjects on which version 1.0 publishes an event type. */
    buildFormerSubjectFilter: (type: BusEventType) => `${subjectPrefixes.tills}.${type}.>`,
    /** Returns the used share of a stream's maximum size, between 0 and 1. */
    async readStreamUsage(kind: EventStreamKind): Promise<number> {
      const { manager } = await connected;
      const { state, config: stored } = await manager.streams.info(streams[kind]);
      return stored.max_bytes > 0 ? state.bytes / stored.max_bytes : 0;
    },
    /**
     * Creates the notifier of a topic. Its subjects begin with `<namespace>-signals`, because a stream stores
     * every message whose subject begins with `<namespace>.` or `<namespace>-orders.`.
     */
    createInstanceNotifier(topic: string): InstanceNotifier {
      const subject = `${config.NAMESPACE}-signals.${topic}`;
      return {
        publish(locationId, text) {
          if (isConnected) connection?.nats.publish(`${subject}.${locationId}`, text);
        },
        subscribe(listener) {
          const callback = (error: Error | null, message: Msg) => {
            if (!error) listener(message.subject.split(".").at(-1) ?? "", message.string());
          };
          connected.then(({ nats }) => nats.subscribe(`${subject}.*`, { callback })).catch(() => {});
        },
      };
    },
    /**
     * Sends a request to one of the instances that answer the topic, and returns its reply.
     *
     * @throws `Error` when NATS is not connected, no instance answers the topic, or the reply does not arrive in time.
     * In the last case, the request may have been handled.
     */
    async request(topic: string, text: string, { timeoutMs }: { timeoutMs: number }): Promise<string> {
      if (!isConnected || !connection) throw new Error("not connected to NATS");
      const subject = buildRequestSubject(config.NAMESPACE, topic);
      return (await connection.nats.request(subject, text, { timeout: timeoutMs })).string();
    },
    /**
     * Calls `handle` for the requests of a topic. NATS sends each request to only one of the instances of the service.
     * `stop` resolves when the requests in progress are handled.
     */
    answerRequests(topic: string, handle: (text: string) => Promise<string>): { stop(): Promise<void> } {
      const subject = buildRequestSubject(config.NAMESPACE, topic);
      const handling = new Set<Promise<void>>();
      let subscription: Subscription | undefined;
      let isStopped = false;
      const answer = async (message: Msg) => {
        try {
          message.respond(await handle(message.string()));
        } catch (error) {
          log.error({ err: error, topic }, "request over NATS failed");
        }
      };
      const callback = (error: Error | null, message: Msg) => {
        if (error) return;
        const answered = answer(message).finally(() => handling.delete(answered));
        handling.add(answered);
      };
      connected
        .then(({ nats }) => {
          if (!isStopped) subscription = nats.subscribe(subject, { callback, queue: topic });
        })
        .catch(() => {});
      return {
        async stop() {
          isStopped = true;
          subscription?.unsubscribe();
          await Promise.all(handling);
        },
      };
    },
    /** Creates or updates a stream. With `MIGRATE=off`, changes nothing and rejects if the stream does not exist. */
    ensureStream,
    async close(): Promise<void> {
      closing.abort();
      isConnected = false;
      await connection?.nats.close();
    },
  };
}

/** The version of NATS that the product needs at least. */
const minNatsVersion = "2.9";
/** The time, in milliseconds, after which a process that waits for NATS logs it again. */
const logIntervalMs = 5_000;

/** Returns the error for the operator if connecting fails again until an operator helps. */
function toUnusableNatsError(error: unknown, url: string): UnusableServerError | undefined {
  if (!(error instanceof Error)) return undefined;
  const cause = error.cause instanceof Error ? error.cause : error;
  const advice =
    error.name === "AuthorizationError"
      ? "Correct the user and the password, or the token, in NATS_URL."
      : isTlsFailure(error) || isTlsFailure(cause)
        ? tlsAdvice("NATS_URL", "tls:// or nats://")
        : undefined;
  return advice === undefined
    ? undefined
    : new UnusableServerError(describeNats(url), { problem: cause.message, advice });
}

const describeNats = (url: string) => `NATS at ${url.replaceAll(/[^,]*(?:@|\/\/)/g, "")}`;

/** @throws `UnusableServerError` if the server is too old, or if neither it nor its cluster has JetStream. */
async function requireUsableNats({
  nats,
  manager,
  stream,
  url,
}: Pick<EventBusConnection, "nats" | "manager"> & { stream: string; url: string }): Promise<void> {
  const { version = "", jetstream: hasJetStream } = nats.info ?? {};
  if (!isVersionAtLeast(version, minNatsVersion)) {
    const problem = `its version is ${version}`;
    throw new UnusableServerError(describeNats(url), { problem, advice: `Use NATS ${minNatsVersion} or newer.` });
  }
  if (hasJetStream) return;
  // In a cluster, another server can have JetStream.
  await manager.streams.info(stream).catch((error) => {
    // The package does not export the class of the error.
    if (error.name !== "JetStreamNotEnabled") return;
    const advice = "Start the server with --jetstream, or add a jetstream block to its configuration.";
    throw new UnusableServerError(describeNats(url), { problem: "JetStream is not enabled", advice });
  });
}

/**
 * Returns the subject of the requests of a topic. It begins with `<namespace>-requests`, because a stream stores
 * every message whose subject begins with `<namespace>.` or `<namespace>-orders.`.
 */
export function buildRequestSubject(namespace: string, topic: string): string {
  return `${namespace}-requests.${topic}`;
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

/** The codes of JetStream's errors about a stream that needs more storage than a server has, alone or in a cluster. */
const missingStorageCodes: readonly number[] = [10005, 10023, 10047];

/** Returns an error that tells operators what to change if NATS has too little storage, otherwise the same error. */
function explainMissingStorage(error: unknown, { name, maxBytes }: { name: string; maxBytes: number }): unknown {
  if (!(error instanceof JetStreamApiError) || !missingStorageCodes.includes(error.code)) return error;
  const advice = "Increase max_file in nats.conf and the disk, or decrease the maximum sizes of the event streams.";
  return new Error(`NATS cannot reserve ${maxBytes} bytes for the stream ${name}. ${advice}`, { cause: error });
}

/**
 * Returns the servers and credentials in a URL such as `tls://user:password@host:4222,host:4223` and, for `tls://`, the
 * TLS options. These contain the paths of PEM files instead of their contents, so that renewed files are read for each
 * new connection.
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
