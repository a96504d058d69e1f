import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestServerDataFolder } from "./data-folder.mjs";
import {
  compareVersions,
  findOrInstallServerBinaries,
  type InfrastructureServerKind,
  type InstalledServerBinary,
  serverDefinitions,
} from "./find-servers.ts";
import { findFreePort } from "./free-port.ts";
import { preparePostgresCluster } from "./postgres-cluster.ts";
import { launchLocalServer, type RunningServer, type ServerLaunchSpec } from "./run-server.ts";
import { localStateFolder, readOrCreateFile } from "./state-folder.ts";
import { LocalCommandUserError, printLine, runTaskWithProgress } from "./terminal.mjs";

export { createTemporaryDataFolder, createTestServerDataFolder, removeServerDataFolder } from "./data-folder.mjs";

export type LocalServerUrls = Record<"DATABASE_URL" | "NATS_URL" | "REDIS_URL", string>;

const kinds = ["postgres", "nats", "redis"] as const;
const serverStarters = { postgres: startPostgresServer, nats: startNatsServer, redis: startRedisServer };

/** Like `startLocalServers`, but waits until all servers are ready. */
export async function ensureLocalServersRunning(profile: "start" | "test"): Promise<LocalServerUrls> {
  const { urls, ready } = await startLocalServers(profile);
  await ready;
  return urls;
}

/**
 * Returns the URLs of the three servers by environment variable. If a variable is not set, starts the server, which
 * is stopped when this process ends. The profile "start" stores data in `.pragma/`, "test" in a temporary folder.
 * `ready` resolves when all servers are ready. @throws `LocalCommandUserError` if one does not start.
 */
export async function startLocalServers(profile: "start" | "test") {
  const configured = await Promise.all(kinds.map(findServerUrl));
  const missing = kinds.filter((_, index) => configured[index] === undefined);
  await findOrInstallServerBinaries(missing);
  const isStart = profile === "start";
  const parent = isStart || missing.length === 0 ? localStateFolder : createTestServerDataFolder("test");
  const options = { log: printLine, durable: isStart, requiresPassword: isStart };
  const started: Promise<unknown>[] = [];
  const urls = kinds.map((kind, index) => {
    const { name, variable } = serverDefinitions[kind];
    const url = new Promise<string>((resolve, reject) => {
      if (configured[index] !== undefined) return resolve(configured[index]);
      const start = () => serverStarters[kind]({ ...options, dataFolder: join(parent, kind), onLaunch: resolve });
      const ready = runTaskWithProgress(`Starting ${name}`, start);
      ready.catch(reject);
      started.push(ready);
    });
    return url.then((value) => [variable, value]);
  });
  const ready = Promise.all(started);
  // Reported by the caller that waits for it.
  ready.catch(() => {});
  return { urls: Object.fromEntries(await Promise.all(urls)) as LocalServerUrls, ready };
}

/** Returns the URL in a server's variable. @throws `LocalCommandUserError` if it is invalid or does not respond. */
export async function findServerUrl(kind: InfrastructureServerKind): Promise<string | undefined> {
  const { name, variable } = serverDefinitions[kind];
  const value = process.env[variable];
  if (value === undefined || value === "") return undefined;
  const probes = value.split(",").map((part) => {
    const url = part.includes("://") ? part.trim() : `${kind}://${part.trim()}`;
    if (!URL.canParse(url) || new URL(url).hostname === "")
      throw new LocalCommandUserError(`${variable} is not a URL with a host.`);
    return isServerResponding(kind, url);
  });
  if ((await Promise.all(probes)).includes(true)) return value;
  const requirement = kind === "nats" ? " (with JetStream)" : "";
  throw new LocalCommandUserError(
    `${name}${requirement} does not respond at the address in ${variable}. Start the server, or unset ${variable}.`,
  );
}

interface ServerOptions {
  dataFolder: string;
  /** The port of the server. Default: a free port. Pass the port of a stopped server to restart it at the same URL. */
  port?: number;
  log?: (line: string) => void;
  /** Called with the URL of the server when it is launched, before it is ready. */
  onLaunch?: (url: string) => void;
}

/** `config` is appended to the configuration file. With `requiresPassword`, the URL contains a password. */
type ConfiguredOptions = ServerOptions & { config?: string; requiresPassword?: boolean };

/** `durable` is true by default; false is for data that may be lost in a power cut. */
type PostgresOptions = ServerOptions & {
  durable?: boolean;
  adjustLaunch?: (launch: ServerLaunchSpec) => ServerLaunchSpec;
};

export type StartedLocalServer = RunningServer & { url: string; port: number };

/** NATS 2.10, and so the container, can write events to disk before it acknowledges them. */
const canNatsSync = (installed: InstalledServerBinary | undefined) =>
  installed === undefined || compareVersions(installed.version, "2.10") >= 0;

/** With `durable`, acknowledged events are on disk, unless the installed version cannot do that. */
export function startNatsServer({ durable = false, ...options }: ConfiguredOptions & { durable?: boolean }) {
  return startWithConfigFile("nats", options, ({ host, port, data, password, installed }) => {
    const sync = durable && canNatsSync(installed) ? ", sync_interval: always" : "";
    return [
      `listen: "${host}:${port}"`,
      `jetstream { store_dir: ${JSON.stringify(data)}, max_file: 1T${sync} }`,
      ...(password === undefined ? [] : [`authorization { user: pragma, password: "${password}" }`]),
    ];
  });
}

/** Returns a warning for the user if the NATS server that `npm start` uses can lose accepted events in a power cut. */
export async function findNatsDurabilityWarning(): Promise<string | undefined> {
  if (process.env.NATS_URL) return undefined;
  const [installed] = (await findOrInstallServerBinaries(["nats"])).nats;
  if (canNatsSync(installed)) return undefined;
  return `NATS ${installed?.version} writes an event to disk up to two minutes after accepting it. After a power cut, reports and webhooks can be late, until the API publishes the events again. For production, use NATS 2.12.6 or newer.`;
}

export function startRedisServer(options: ConfiguredOptions): Promise<StartedLocalServer> {
  return startWithConfigFile("redis", options, ({ host, port, data, password }) => [
    `bind ${host}`,
    "protected-mode no",
    ...(password === undefined ? [] : [`requirepass ${password}`]),
    `port ${port}`,
    `dir ${JSON.stringify(data)}`,
    'save ""',
    // The default, ten times a second, is most of what an idle server costs. Only the timeouts of blocking commands are
    // less exact.
    "hz 2",
    "appendonly yes",
    "appendfsync everysec",
    // As in production, writes fail when the memory is full, so that no queue data is evicted.
    "maxmemory 256mb",
    "maxmemory-policy noeviction",
  ]);
}

function startWithConfigFile(
  kind: "nats" | "redis",
  { config = "", requiresPassword = false, ...options }: ConfiguredOptions,
  configFor: (fields: {
    host: string;
    port: number;
    data: string;
    password: string | undefined;
    installed: InstalledServerBinary | undefined;
  }) => string[],
): Promise<StartedLocalServer> {
  const scheme = config.includes("tls-port") ? "rediss" : kind;
  return startServer(kind, options, (folder, port, [newest]) => {
    const file = join(folder, `${kind}.conf`);
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true });
    const password = requiresPassword ? readOrCreatePassword(folder) : undefined;
    // In a container, the server can listen on all interfaces, because Docker publishes the port only on loopback.
    const lines = configFor({
      ...(newest ? { host: "127.0.0.1", data } : { host: "0.0.0.0", data: "/data" }),
      ...{ port, password, installed: newest },
    });
    writeFileSync(file, [...lines, config].join("\n"), { mode: 0o600 });
    const { program, image } = serverDefinitions[kind];
    return {
      url: `${scheme}://${password === undefined ? "" : `${userNames[kind]}:${password}@`}127.0.0.1:${port}`,
      command: newest?.path ?? program,
      args: kind === "nats" ? ["--config", file] : [file],
      ...(!newest && { container: { image, dataPath: "/data", folder } }),
    };
  });
}

/** Redis has only its default user. */
const userNames = { nats: "pragma", redis: "default" };

const readOrCreatePassword = (folder: string) =>
  readOrCreateFile(join(folder, "password"), () => randomBytes(24).toString("hex"));

const postgresSettings = {
  max_connections: "300",
  shared_buffers: "256MB",
  effective_cache_size: "2GB",
  max_wal_size: "1GB",
  timezone: "UTC",
  log_timezone: "UTC",
};
const nonDurableSettings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
/** The error that PostgreSQL logs while worker processes of a killed server still use its shared memory. */
const sharedMemoryInUse = /pre-existing shared memory block/;
const sharedMemoryTimeoutMs = 10_000;

/** Starts a PostgreSQL server for this process, with a UTF-8 database `pragma`. The server never runs as root. */
export async function startPostgresServer(options: PostgresOptions): Promise<StartedLocalServer> {
  const { durable = true, adjustLaunch = (launch) => launch, port = await findFreePort() } = options;
  const parameters = Object.entries({ ...postgresSettings, ...(durable ? {} : nonDurableSettings) });
  const parameterArgs = parameters.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = () =>
    startServer("postgres", { ...options, port }, async (folder, port, binaries) => {
      const password = readOrCreatePassword(folder);
      const { image } = serverDefinitions.postgres;
      const container = {
        command: "docker-entrypoint.sh",
        args: ["postgres"],
        env: { POSTGRES_USER: "pragma", POSTGRES_PASSWORD: password, POSTGRES_DB: "pragma" },
        container: { image, dataPath: "/var/lib/postgresql/data", folder },
      };
      const hasProgram = binaries.length > 0;
      const launch = hasProgram ? await preparePostgresCluster({ folder, binaries, password, durable }) : container;
      return {
        url: `postgres://pragma:${password}@127.0.0.1:${port}/pragma`,
        ...adjustLaunch({ ...launch, args: [...launch.args, "-p", String(port), ...parameterArgs] }),
        stopSignal: "SIGINT",
      };
    });

  for (const deadline = Date.now() + sharedMemoryTimeoutMs; ; await sleep(100)) {
    try {
      return await start();
    } catch (error) {
      if (!sharedMemoryInUse.test(String(error)) || Date.now() > deadline) throw error;
    }
  }
}

type ServerLaunchWithUrl = ServerLaunchSpec & { url: string; stopSignal?: NodeJS.Signals };

async function startServer(
  kind: InfrastructureServerKind,
  { dataFolder, port: requestedPort, log = () => {}, onLaunch = () => {} }: ServerOptions,
  createLaunch: (
    folder: string,
    port: number,
    binaries: InstalledServerBinary[],
  ) => ServerLaunchWithUrl | Promise<ServerLaunchWithUrl>,
): Promise<StartedLocalServer> {
  const folder = resolve(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { [kind]: binaries } = await findOrInstallServerBinaries([kind]);
  const port = requestedPort ?? (await findFreePort());
  const { url, ...launch } = await createLaunch(folder, port, binaries);
  const server = await launchLocalServer({
    ...{ name: serverDefinitions[kind].name, logFile: join(folder, "server.log"), port, log },
    isReady: () => isServerResponding(kind, url),
    onLaunch: () => onLaunch(url),
    ...launch,
  });
  return { ...server, port, url };
}

const probeTimeoutMs = 5_000;

/** They load their packages themselves, while the servers start. */
const serverProbes: Record<InfrastructureServerKind, (url: string) => Promise<boolean>> = {
  async postgres(url) {
    const { default: postgres } = await import("postgres");
    const sql = postgres(url, { max: 1, connect_timeout: probeTimeoutMs / 1000, fetch_types: false });
    await sql`select 1`.finally(() => sql.end({ timeout: 0 }));
    return true;
  },
  async nats(url) {
    const { connect } = await import("@nats-io/transport-node");
    const { protocol, host, username, password } = new URL(url);
    const [user, pass] = [username, password].map(decodeURIComponent);
    const connection = await connect({
      // Without credentials, which the client would read as a part of the host.
      servers: `${protocol}//${host}`,
      ...(user && pass && { user, pass }),
      ...(user && !pass && { token: user }),
      timeout: probeTimeoutMs,
      reconnect: false,
    });
    const hasJetStream = connection.info?.jetstream === true;
    await connection.close();
    return hasJetStream;
  },
  async redis(url) {
    const { Redis } = await import("ioredis");
    const client = new Redis(url, { lazyConnect: true, connectTimeout: probeTimeoutMs, retryStrategy: () => null });
    try {
      // Rejects with the error event, because the error of the command does not state why the connection failed.
      await new Promise((resolve, reject) => client.on("error", reject).ping().then(resolve, reject));
      return true;
    } finally {
      client.disconnect();
    }
  },
};

/** A refused login or a TLS error also counts as a response. A NATS server must have JetStream. */
export function isServerResponding(kind: InfrastructureServerKind, url: string): Promise<boolean> {
  return serverProbes[kind](url).catch(isServerRefusal);
}

/**
 * Returns whether an error proves that a server is ready: it denied the login, for example, or only the TLS handshake
 * failed. A PostgreSQL server that is still starting is not ready.
 */
function isServerRefusal({ name, code = "" }: Error & { code?: string }): boolean {
  const isStarting = code === "57P03";
  if (["PostgresError", "ReplyError", "AuthorizationError"].includes(name)) return !isStarting;
  return /CERT|SIGN|TLS|SSL/.test(code);
}
