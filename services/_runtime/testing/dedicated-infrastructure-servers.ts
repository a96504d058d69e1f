import { Redis } from "ioredis";
import { createTestServerDataFolder, localServerStarters, type TestServerProcess } from "./local-servers.ts";

/** The names of the servers that a test can start for its own use. */
export type OwnTestServerName = keyof typeof localServerStarters;

/** The NATS, PostgreSQL and Redis servers of one test, which the test can kill and restart. */
export interface OwnTestServers extends Record<OwnTestServerName, TestServerProcess> {
  /** Kills a server. After `delayMs` milliseconds, starts the server again with the same port and data. */
  restart(name: OwnTestServerName, delayMs?: number): Promise<void>;
  kill(name: OwnTestServerName): Promise<void>;
  start(name: OwnTestServerName): Promise<void>;
  /** Deletes all data in Redis. */
  flushRedis(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnTestServers(): Promise<OwnTestServers> {
  const folder = createTestServerDataFolder("private");
  const launch = (name: OwnTestServerName, port?: number) =>
    localServerStarters[name]({ dataFolder: `${folder}/${name}`, ...(port !== undefined && { port }) });
  const [nats, postgres, redis] = await Promise.all([launch("nats"), launch("postgres"), launch("redis")]);
  const servers: OwnTestServers = {
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
export interface OwnTestServer {
  readonly url: string;
  /** The folder with the data of the server. */
  readonly dataFolder: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Suspends the process. The server then accepts connections but does not respond until the process is resumed. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnTestServer(name: OwnTestServerName): Promise<OwnTestServer> {
  const dataFolder = `${createTestServerDataFolder("private")}/${name}`;
  let running: TestServerProcess = await localServerStarters[name]({ dataFolder });
  return {
    url: running.url,
    dataFolder,
    kill: () => running.kill(),
    async start() {
      running = await localServerStarters[name]({ dataFolder, port: running.port });
    },
    suspend: async () => void (await running.sendSignal("SIGSTOP")),
    resume: async () => void (await running.sendSignal("SIGCONT")),
    stop: () => running.stop(),
  };
}
