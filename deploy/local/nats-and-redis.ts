import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { findServers, software } from "./find-servers.ts";
import { runServer } from "./run-server.ts";
import { isAnswering } from "./server-clients.ts";
import type { RunningServer, ServerOptions } from "./servers.d.mts";

/** What the configuration of a server says of where it is: in a container Docker decides what reaches its port. */
interface Place {
  host: string;
  port: number;
  /** For its data. */
  folder: string;
  isContainer: boolean;
}

/** Starts a private NATS with JetStream on file storage. */
export function startNats(options: ServerOptions): Promise<RunningServer> {
  return startConfigured("nats", options, {
    configFor: ({ host, port, folder }) =>
      `listen: "${host}:${port}"\njetstream {\n  store_dir: ${JSON.stringify(folder)}\n  max_file: 1T\n}\n`,
    argsFor: (file) => ["--config", file],
    scheme: "nats",
  });
}

/** As in production: writes are refused when memory is full, and nothing that queues need is evicted. */
const redisSettings = [
  'save ""',
  "appendonly yes",
  "appendfsync everysec",
  "maxmemory 256mb",
  "maxmemory-policy noeviction",
];

/** Starts a private Redis that keeps an append-only file and no snapshots. */
export function startRedis(options: ServerOptions): Promise<RunningServer> {
  return startConfigured("redis", options, {
    configFor: ({ host, port, folder, isContainer }) =>
      [
        `bind ${host}`,
        `protected-mode ${isContainer ? "no" : "yes"}`,
        `port ${port}`,
        `dir ${JSON.stringify(folder)}`,
        ...redisSettings,
        "",
      ].join("\n"),
    argsFor: (file) => [file],
    scheme: options.config?.includes("tls-port") ? "rediss" : "redis",
  });
}

async function startConfigured(
  kind: "nats" | "redis",
  { dataFolder, port, log = () => {}, config = "" }: ServerOptions,
  server: { configFor: (place: Place) => string; argsFor: (file: string) => string[]; scheme: string },
): Promise<RunningServer> {
  const folder = resolve(dataFolder);
  const { name, program, image } = software[kind];
  const {
    [kind]: [newest],
  } = await findServers([kind]);
  const data = join(folder, "data");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mkdirSync(data, { recursive: true });
  const file = join(folder, `${kind}.conf`);
  const urlOn = (onPort: number) => `${server.scheme}://127.0.0.1:${onPort}`;
  const running = await runServer({
    name,
    folder,
    port,
    log,
    launch: (onPort) => {
      const isContainer = newest === undefined;
      const place = {
        port: onPort,
        isContainer,
        ...(isContainer ? { host: "0.0.0.0", folder: "/data" } : { host: "127.0.0.1", folder: data }),
      };
      writeFileSync(file, server.configFor(place) + config, { mode: 0o600 });
      const args = server.argsFor(file);
      return isContainer
        ? { command: program, args, container: { image, dataPath: "/data" } }
        : { command: newest.path, args };
    },
    isReady: (onPort) => isAnswering[kind](urlOn(onPort)),
  });
  return { ...running, url: urlOn(running.port) };
}
