import { Redis } from "ioredis";
import { type LocalServer, starters, temporaryDataFolder } from "./local-servers.ts";

/** A server that a test may have for itself. */
export type PrivateServer = keyof typeof starters;

/** Servers of a test's own, to be killed and started again. */
export interface PrivateServers extends Record<PrivateServer, LocalServer> {
  /** Kills a server and starts it again, on the same port and data, `after` so many milliseconds. */
  restart(which: PrivateServer, after?: number): Promise<void>;
  kill(which: PrivateServer): Promise<void>;
  start(which: PrivateServer): Promise<void>;
  /** Takes everything out of Redis. */
  flushRedis(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPrivateServers(): Promise<PrivateServers> {
  const folder = temporaryDataFolder("private");
  const launch = (which: PrivateServer, port?: number) =>
    starters[which]({ dataFolder: `${folder}/${which}`, ...(port !== undefined && { port }) });
  const [nats, postgres, redis] = await Promise.all([launch("nats"), launch("postgres"), launch("redis")]);
  const servers: PrivateServers = {
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
