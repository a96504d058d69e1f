import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findServers, software } from "./find-servers.ts";
import type { ReachableServer, ServerOptions } from "./nats-and-redis.ts";
import { launchOnMachine } from "./postgres-cluster.ts";
import { type Launch, runServer } from "./run-server.ts";
import { isAnswering } from "./server-clients.ts";
import { keptFile } from "./state-folder.ts";

const settings = {
  max_connections: "300",
  shared_buffers: "256MB",
  effective_cache_size: "2GB",
  max_wal_size: "1GB",
  timezone: "UTC",
  log_timezone: "UTC",
};
const withoutDurability = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
/** What the workers of a killed server hold until they notice. */
const memoryInUse = /pre-existing shared memory block/;
const memoryTimeoutMs = 10_000;

interface PostgresOptions extends Omit<ServerOptions, "config"> {
  /** false switches fsync and its like off: for data that nobody misses after a power cut. Default: true. */
  durable?: boolean;
  /** Changes how it is started. */
  change?: (launch: Launch) => Launch;
}

/** Starts a private PostgreSQL with the database `pragma` (UTF-8), never as root. */
export async function startPostgres(options: PostgresOptions): Promise<ReachableServer> {
  const { dataFolder, port, durable = true, log = () => {}, change = (launch) => launch } = options;
  const folder = resolve(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { postgres: binaries } = await findServers(["postgres"]);
  const password = keptFile(join(folder, "password"), () => randomBytes(24).toString("hex"));
  const urlOn = (onPort: number) => `postgres://pragma:${password}@127.0.0.1:${onPort}/pragma`;
  const launch =
    binaries.length > 0
      ? await launchOnMachine({ folder, binaries, password, durable })
      : {
          command: "docker-entrypoint.sh",
          args: ["postgres"],
          env: { POSTGRES_USER: "pragma", POSTGRES_PASSWORD: password, POSTGRES_DB: "pragma" },
          container: { image: software.postgres.image, dataPath: "/var/lib/postgresql/data" },
        };
  const parameters = Object.entries({ ...settings, ...(durable ? {} : withoutDurability) });
  const shared = parameters.flatMap(([name, value]) => ["-c", `${name}=${value}`]);

  for (const deadline = Date.now() + memoryTimeoutMs; ; await sleep(100)) {
    try {
      const server = await runServer({
        name: software.postgres.name,
        folder,
        port,
        log,
        stopSignal: "SIGINT",
        launch: (onPort) => change({ ...launch, args: [...launch.args, "-p", String(onPort), ...shared] }),
        isReady: (onPort) => isAnswering.postgres(urlOn(onPort)),
      });
      return { ...server, url: urlOn(server.port) };
    } catch (error) {
      if (!memoryInUse.test(String(error)) || Date.now() > deadline) throw error;
    }
  }
}
