import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findServers, software } from "./find-servers.ts";
import { type RunningServer, runServer } from "./run-server.ts";
import { isAnswering } from "./server-clients.ts";

export interface ServerOptions {
  /** The server's own folder: data and log. Made when absent. */
  dataFolder: string;
  /** Default: any free port. Give a stopped or killed server's port to start it again in its place. */
  port?: number;
  /** Receives what a person should know: that a server ended by itself. Default: nobody. */
  log?: (line: string) => void;
  /** More of its configuration: users, for instance. */
  config?: string;
}

export type ReachableServer = RunningServer & { url: string };

/** Starts a private NATS with JetStream on file storage. */
export function startNats(options: ServerOptions): Promise<ReachableServer> {
  return startConfigured("nats", options, (host, port, data) => [
    `listen: "${host}:${port}"`,
    `jetstream { store_dir: ${JSON.stringify(data)}, max_file: 1T }`,
  ]);
}

/** Starts a private Redis that keeps an append-only file and no snapshots. */
export function startRedis(options: ServerOptions): Promise<ReachableServer> {
  return startConfigured("redis", options, (host, port, data) => [
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

async function startConfigured(
  kind: "nats" | "redis",
  { dataFolder, port, log = () => {}, config = "" }: ServerOptions,
  configFor: (host: string, port: number, data: string) => string[],
): Promise<ReachableServer> {
  const folder = resolve(dataFolder);
  const { name, program, image } = software[kind];
  const newest = (await findServers([kind]))[kind][0];
  const data = join(folder, "data");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(data, { recursive: true });
  const file = join(folder, `${kind}.conf`);
  const args = kind === "nats" ? ["--config", file] : [file];
  const scheme = config.includes("tls-port") ? "rediss" : kind;
  const urlOn = (onPort: number) => `${scheme}://127.0.0.1:${onPort}`;
  const launch = (onPort: number) => {
    // In a container, what reaches its port is what Docker lets through.
    const lines = newest ? configFor("127.0.0.1", onPort, data) : configFor("0.0.0.0", onPort, "/data");
    writeFileSync(file, [...lines, config].join("\n"), { mode: 0o600 });
    return newest
      ? { command: newest.path, args }
      : { command: program, args, container: { image, dataPath: "/data" } };
  };
  const isReady = (onPort: number) => isAnswering[kind](urlOn(onPort));
  const server = await runServer({ name, folder, port, log, launch, isReady });
  return { ...server, url: urlOn(server.port) };
}
