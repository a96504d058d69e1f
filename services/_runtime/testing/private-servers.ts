import { type RunningServer, startNats, startPostgres, temporaryDataFolder } from "../../../deploy/local/servers.mjs";

/** Servers of a test's own, to be killed and started again. */
export interface PrivateServers {
  nats: RunningServer;
  postgres: RunningServer;
  /** Kills a server and starts it again, on the same port and data, `after` so many milliseconds. */
  restart(which: "nats" | "postgres", after?: number): Promise<void>;
  kill(which: "nats" | "postgres"): Promise<void>;
  start(which: "nats" | "postgres"): Promise<void>;
  stop(): Promise<void>;
}

export async function startPrivateServers(): Promise<PrivateServers> {
  const folder = temporaryDataFolder("private");
  const starters = {
    nats: (port?: number) => startNats({ dataFolder: `${folder}/nats`, ...(port !== undefined && { port }) }),
    postgres: (port?: number) =>
      startPostgres({ dataFolder: `${folder}/postgres`, ...(port !== undefined && { port }) }),
  };
  const [nats, postgres] = await Promise.all([starters.nats(), starters.postgres()]);
  const servers: PrivateServers = {
    nats,
    postgres,
    kill: (which) => servers[which].kill(),
    async start(which) {
      servers[which] = await starters[which](servers[which].port);
    },
    async restart(which, after = 0) {
      await servers[which].kill();
      await new Promise((resolve) => setTimeout(resolve, after));
      await servers.start(which);
    },
    async stop() {
      await Promise.all([servers.nats.stop(), servers.postgres.stop()]);
    },
  };
  return servers;
}
