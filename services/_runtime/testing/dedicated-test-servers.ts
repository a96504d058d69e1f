import { Redis } from "ioredis";
import { createTemporaryDataFolder, localServerStarters, type TestServerProcess } from "./local-servers.ts";

/** The names of the servers that a test can start for its own use. */
export type DedicatedTestServerName = keyof typeof localServerStarters;

/** The NATS, PostgreSQL and Redis servers of one test, which the test can kill and restart. */
export interface DedicatedTestServers extends Record<DedicatedTestServerName, TestServerProcess> {
  /** Kills a server. After `delayMs` milliseconds, starts the server again with the same port and data. */
  restart(name: DedicatedTestServerName, delayMs?: number): Promise<void>;
  kill(name: DedicatedTestServerName): Promise<void>;
  start(name: DedicatedTestServerName): Promise<void>;
  /** Deletes all data in Redis. */
  flushRedis(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDedicatedTestServers(): Promise<DedicatedTestServers> {
  const folder = createTemporaryDataFolder("private");
  const launch = (name: DedicatedTestServerName, port?: number) =>
    localServerStarters[name]({ dataFolder: `${folder}/${name}`, ...(port !== undefined && { port }) });
  const [nats, postgres, redis] = await Promise.all([launch("nats"), launch("postgres"), launch("redis")]);
  const servers: DedicatedTestServers = {
    nats,
    postgres,
    redis,
    kill: (name) => servers[name].kill(),
    async start(name) {
      servers[name] = await launch(name, servers[name].port);
    },
    async restart(name, delayMs = 0) {
      await servers.kill(name);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await servers.start(name);
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

/** A server for one test. The test can kill and suspend the server, and restart it with the same port and data. */
export interface DedicatedTestServer {
  readonly url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends the process. The server then accepts connections but does not respond until the process is resumed. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDedicatedTestServer(name: DedicatedTestServerName): Promise<DedicatedTestServer> {
  const dataFolder = `${createTemporaryDataFolder("private")}/${name}`;
  let running: TestServerProcess = await localServerStarters[name]({ dataFolder });
  return {
    url: running.url,
    kill: () => running.kill(),
    async start() {
      running = await localServerStarters[name]({ dataFolder, port: running.port });
    },
    suspend: async () => void (await running.sendSignal("SIGSTOP")),
    resume: async () => void (await running.sendSignal("SIGCONT")),
    stop: () => running.stop(),
  };
}
