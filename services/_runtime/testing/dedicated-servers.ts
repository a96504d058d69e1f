import { Redis } from "ioredis";
import { createTemporaryDataFolder, type LocalServer, localServerStarters } from "./local-servers.ts";

/** A server that a test may have for itself. */
export type DedicatedServerName = keyof typeof localServerStarters;

/** Servers of a test's own, to be killed and started again. */
export interface DedicatedServers extends Record<DedicatedServerName, LocalServer> {
  /** Kills a server and starts it again, on the same port and data, `after` so many milliseconds. */
  restart(which: DedicatedServerName, delayMs?: number): Promise<void>;
  kill(which: DedicatedServerName): Promise<void>;
  start(which: DedicatedServerName): Promise<void>;
  /** Takes everything out of Redis. */
  flushRedis(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDedicatedServers(): Promise<DedicatedServers> {
  const folder = createTemporaryDataFolder("private");
  const launch = (which: DedicatedServerName, port?: number) =>
    localServerStarters[which]({ dataFolder: `${folder}/${which}`, ...(port !== undefined && { port }) });
  const [nats, postgres, redis] = await Promise.all([launch("nats"), launch("postgres"), launch("redis")]);
  const servers: DedicatedServers = {
    nats,
    postgres,
    redis,
    kill: (which) => servers[which].kill(),
    async start(which) {
      servers[which] = await launch(which, servers[which].port);
    },
    async restart(which, after = 0) {
      await servers.kill(which);
      await new Promise((resolve) => setTimeout(resolve, after));
      await servers.start(which);
    },
    async flushRedis() {
      const client = new Redis(servers.redis.url);
      await client.flushall();
      client.disconnect();
    },
    async stop() {
      await Promise.all([servers.nats.stop(), servers.postgres.stop(), servers.redis.stop()]);
    },
  };
  return servers;
}
