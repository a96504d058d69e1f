import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { type ConnectionOptions, connect, type NatsConnection } from "@nats-io/transport-node";
import { sleep } from "../concurrency/sleep.ts";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import { isTlsFailure, isVersionAtLeast, tlsAdvice, UnusableServerError } from "../process/unusable-server-error.ts";
import { computeRetryDelayMs } from "../retries/transient-error.ts";

type NatsConfig = Pick<CommonServiceConfig, "NATS_URL"> & Partial<CommonServiceConfig>;

export interface EventBusConnection {
  nats: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
}

export interface EventBusConnectionState {
  namespace: string;
  /** Resolves with the connection after the first connect to NATS. */
  connected: Promise<EventBusConnection>;
  /** Returns the connection if NATS is connected, otherwise undefined. */
  currentConnection(): EventBusConnection | undefined;
}

const minNatsVersion = "2.9";
/** The time, in milliseconds, after which a process that waits for NATS logs it again. */
const logIntervalMs = 5_000;

/** Connects to NATS until it succeeds or `signal` is aborted. @throws `UnusableServerError` if an operator must help. */
export async function connectToNats(
  config: NatsConfig,
  { name, signal, log }: { name: string; signal: AbortSignal; log: Logger },
): Promise<NatsConnection> {
  let logAt = 0;
  for (let attempt = 1; !signal.aborted; attempt++) {
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
      if (!signal.aborted) return nats;
      await nats.close();
    } catch (error) {
      const unusable = toUnusableNatsError(error, config.NATS_URL);
      if (unusable) throw unusable;
      if (Date.now() >= logAt) {
        log.warn({ reason: describeErrorChain(error) }, "waiting for NATS");
        logAt = Date.now() + logIntervalMs;
      }
      await sleep(computeRetryDelayMs(attempt, { firstMs: 250, maxMs: 5_000 }), signal);
    }
  }
  throw new Error("The event bus was closed before it connected to NATS.");
}

export async function checkNatsServer(config: NatsConfig, name: string): Promise<void> {
  const nats = await connect({ ...buildConnectionOptions(config), name, reconnect: false, timeout: 5_000 });
  await nats.close();
}

function toUnusableNatsError(error: unknown, url: string): UnusableServerError | undefined {
  if (!(error instanceof Error)) return undefined;
  const cause = error.cause instanceof Error ? error.cause : error;
  const isRejected = error.name === "AuthorizationError";
  if (!isRejected && !isTlsFailure(error) && !isTlsFailure(cause)) return undefined;
  const advice = isRejected
    ? "Correct the user and the password, or the token, in NATS_URL."
    : tlsAdvice("NATS_URL", "tls:// or nats://");
  return new UnusableServerError(describeNats(url), { problem: cause.message, advice });
}

const describeNats = (url: string) => `NATS at ${url.replaceAll(/[^,]*(?:@|\/\/)/g, "")}`;

/** @throws `UnusableServerError` if the server is too old, or if neither it nor its cluster has JetStream. */
export async function requireUsableNats({
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

/** PEM files are passed by their paths, so that renewed files are read for each new connection. */
function buildConnectionOptions({
  NATS_URL: url,
  TLS_CA_FILE,
  TLS_CERT_FILE,
  TLS_KEY_FILE,
}: NatsConfig): ConnectionOptions {
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
