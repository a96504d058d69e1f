import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import postgres from "postgres";
import { createTemporaryDataFolder } from "./data-folder.mjs";
import { findServerBinaries, type ServerBinary, type ServerKind, serverSoftware } from "./find-servers.ts";
import { findFreePort } from "./free-port.ts";
import { prepareLocalPostgres } from "./postgres-cluster.ts";
import { launchServer, type RunningServer, type ServerLaunch, type ServerProcessOptions } from "./run-server.ts";
import { localStateFolder, readOrCreateFile } from "./state-folder.ts";
import { printLine, UserFacingError, withProgress } from "./terminal.mjs";

export { createTemporaryDataFolder, removeDataFolder } from "./data-folder.mjs";

export type ServerUrls = Record<"DATABASE_URL" | "NATS_URL" | "REDIS_URL", string>;

const kinds = ["postgres", "nats", "redis"] as const;
const serverStarters = { postgres: startPostgres, nats: startNats, redis: startRedis };

/**
 * The URLs of the three servers, by their variables: those that the environment names, else private ones, started side
 * by side, which end with this process. "start" keeps their data in `.pragma/`, "test" in a temporary folder.
 */
export async function ensureServers(profile: "start" | "test"): Promise<ServerUrls> {
  const given = await Promise.all(kinds.map(configuredServerUrl));
  const own = kinds.filter((_, index) => given[index] === undefined);
  await findServerBinaries(own);
  const home = profile === "start" || own.length === 0 ? localStateFolder : createTemporaryDataFolder("test");
  const start = async (kind: ServerKind) => {
    const options = { dataFolder: join(home, kind), log: printLine, durable: profile === "start" };
    return (await withProgress(`Starting ${serverSoftware[kind].name}`, () => serverStarters[kind](options))).url;
  };
  const urls = kinds.map(async (kind, index) => [serverSoftware[kind].variable, given[index] ?? (await start(kind))]);
  return Object.fromEntries(await Promise.all(urls));
}

/**
 * The URL of the server of this kind that the environment names, run by somebody else: it is neither started nor stopped
 * here. Undefined when the environment names none.
 *
 * @throws Failure when it does not answer.
 */
export async function configuredServerUrl(kind: ServerKind): Promise<string | undefined> {
  const { name, variable } = serverSoftware[kind];
  const given = process.env[variable];
  if (given === undefined || given === "") return undefined;
  const answers = given.split(",").map((part) => {
    const url = part.includes("://") ? part.trim() : `${kind}://${part.trim()}`;
    if (!URL.canParse(url) || new URL(url).hostname === "")
      throw new UserFacingError(`${variable} is not a URL with a host.`);
    return isServerResponding(kind, url);
  });
  if ((await Promise.all(answers)).includes(true)) return given;
  const needs = kind === "nats" ? " (with JetStream)" : "";
  throw new UserFacingError(
    `${name}${needs} does not answer at the address in ${variable}. Start it, or unset ${variable}.`,
  );
}

interface ServerOptions {
  /** The server's own folder: data and log. Made when absent. */
  dataFolder: string;
  /** Default: any free port. Give a stopped or killed server's port to start it again in its place. */
  port?: number;
  /** Receives what a person should know: that a server ended by itself. Default: nobody. */
  log?: (line: string) => void;
}

/** `config`: more of its configuration, users for instance. */
type ConfiguredOptions = ServerOptions & { config?: string };

/**
 * `durable`: false switches fsync and its like off, for data that nobody misses after a power cut; default true.
 * `change` changes how it is started.
 */
type PostgresOptions = ServerOptions & { durable?: boolean; adjustLaunch?: (launch: ServerLaunch) => ServerLaunch };

export type StartedServer = RunningServer & { url: string; port: number };

/** Starts a private NATS with JetStream on file storage. */
export function startNats(options: ConfiguredOptions): Promise<StartedServer> {
  return startWithConfigFile("nats", options, (host, port, data) => [
    `listen: "${host}:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(data)}, max_file: 1T }`,
  ]);
}

/** Starts a private Redis that keeps an append-only file and no snapshots. */
export function startRedis(options: ConfiguredOptions): Promise<StartedServer> {
  return startWithConfigFile("redis", options, (host, port, data) => [
    `bind ${host}`,
    "protected-mode no",
    `port ${port}`,
    `dir ${JSON.stringify(data)}`,
    'save ""',
    "appendonly yes",
    "appendfsync everysec",
    // As in production: writes are refused when memory is full, and nothing that queues need is evicted.
    "maxmemory 256mb",
    "maxmemory-policy noeviction",
  ]);
}

function startWithConfigFile(
  kind: "nats" | "redis",
  { config = "", ...options }: ConfiguredOptions,
  configFor: (host: string, port: number, data: string) => string[],
): Promise<StartedServer> {
  const scheme = config.includes("tls-port") ? "rediss" : kind;
  return startServer(kind, options, (folder, port, [newest]) => {
    const file = join(folder, `${kind}.conf`);
    const data = join(folder, "data");
    mkdirSync(data, { recursive: true });
    // In a container, what reaches its port is what Docker lets through.
    const lines = newest ? configFor("127.0.0.1", port, data) : configFor("0.0.0.0", port, "/data");
    writeFileSync(file, [...lines, config].join("\n"), { mode: 0o600 });
    const { program, image } = serverSoftware[kind];
    return {
      url: `${scheme}://127.0.0.1:${port}`,
      command: newest?.path ?? program,
      args: kind === "nats" ? ["--config", file] : [file],
      ...(!newest && { container: { image, dataPath: "/data", folder } }),
    };
  });
}

const postgresSettings = {
  max_connections: "300",
  shared_buffers: "256MB",
  effective_cache_size: "2GB",
  max_wal_size: "1GB",
  timezone: "UTC",
  log_timezone: "UTC",
};
const nonDurableSettings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
/** What the workers of a killed server hold until they notice. */
const sharedMemoryInUse = /pre-existing shared memory block/;
const sharedMemoryTimeoutMs = 10_000;

/** Starts a private PostgreSQL with the database `pragma` (UTF-8), never as root. */
export async function startPostgres(options: PostgresOptions): Promise<StartedServer> {
  const { durable = true, adjustLaunch = (launch) => launch } = options;
  const parameters = Object.entries({ ...postgresSettings, ...(durable ? {} : nonDurableSettings) });
  const shared = parameters.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = () =>
    startServer("postgres", options, async (folder, port, binaries) => {
      const password = readOrCreateFile(join(folder, "password"), () => randomBytes(24).toString("hex"));
      const launch =
        binaries.length > 0
          ? await prepareLocalPostgres({ folder, binaries, password, durable })
          : {
              command: "docker-entrypoint.sh",
              args: ["postgres"],
              env: { POSTGRES_USER: "pragma", POSTGRES_PASSWORD: password, POSTGRES_DB: "pragma" },
              container: { image: serverSoftware.postgres.image, dataPath: "/var/lib/postgresql/data", folder },
            };
      return {
        url: `postgres://pragma:${password}@127.0.0.1:${port}/pragma`,
        ...adjustLaunch({ ...launch, args: [...launch.args, "-p", String(port), ...shared] }),
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

type ServerLaunchWithUrl = ServerLaunch & Pick<ServerProcessOptions, "stopSignal"> & { url: string };

/** Starts a private server as `launchOn` says. It is given the programs that can run it; none: it runs in a container. */
async function startServer(
  kind: ServerKind,
  { dataFolder, port: wantedPort, log = () => {} }: ServerOptions,
  launchOn: (
    folder: string,
    port: number,
    binaries: ServerBinary[],
  ) => ServerLaunchWithUrl | Promise<ServerLaunchWithUrl>,
): Promise<StartedServer> {
  const folder = resolve(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { [kind]: binaries } = await findServerBinaries([kind]);
  const port = wantedPort ?? (await findFreePort());
  const { url, ...launch } = await launchOn(folder, port, binaries);
  const logFile = join(folder, "server.log");
  const isReady = () => isServerResponding(kind, url);
  const server = await launchServer({ name: serverSoftware[kind].name, logFile, port, log, isReady, ...launch });
  return { ...server, port, url };
}

const probeTimeoutMs = 5_000;

/** By kind: whether the server at a URL is of use. Rejects when it cannot be reached, or refuses. */
const serverProbes: Record<ServerKind, (url: string) => Promise<boolean>> = {
  async postgres(url) {
    const sql = postgres(url, { max: 1, connect_timeout: probeTimeoutMs / 1000, fetch_types: false });
    await sql`select 1`.finally(() => sql.end({ timeout: 0 }));
    return true;
  },
  async nats(url) {
    const connection = await connect({ servers: url, timeout: probeTimeoutMs, reconnect: false });
    const hasJetStream = connection.info?.jetstream === true;
    await connection.close();
    return hasJetStream;
  },
  async redis(url) {
    const client = new Redis(url, { lazyConnect: true, connectTimeout: probeTimeoutMs, retryStrategy: () => null });
    try {
      // The command fails for lack of a connection; why there is none is an event.
      await new Promise((resolve, reject) => client.on("error", reject).ping().then(resolve, reject));
      return true;
    } finally {
      client.disconnect();
    }
  },
};

/**
 * Whether a server of this kind answers at a URL. It does, too, when it refuses the log-in, or when its certificate is
 * for others to check; NATS needs JetStream.
 */
export function isServerResponding(kind: ServerKind, url: string): Promise<boolean> {
  return serverProbes[kind](url).catch(isServerRefusal);
}

/** Whether a server has said that it would not: something listens, and it is of the right kind. */
function isServerRefusal({ name, code = "" }: Error & { code?: string }): boolean {
  const isStarting = code === "57P03";
  if (["PostgresError", "ReplyError", "AuthorizationError"].includes(name)) return !isStarting;
  return /CERT|SIGN|TLS|SSL/.test(code);
}
