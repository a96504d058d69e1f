/** A server that deploy/local started for a test. */
export interface LocalTestServer {
  url: string;
  port: number;
  pid: number;
  /** Stops the server gracefully and waits until its process has ended. */
  stop(): Promise<void>;
  /** Kills the process with SIGKILL and waits until it has ended. The data is kept. */
  kill(): Promise<void>;
  /** SIGSTOP suspends the process: it accepts connections but does not respond until SIGCONT. */
  sendSignal(signal: "SIGSTOP" | "SIGCONT"): unknown;
}

type StartServer = (options: { dataFolder: string; port?: number }) => Promise<LocalTestServer>;

interface LocalServers {
  startNats: StartServer;
  startPostgres: StartServer;
  startRedis: StartServer;
  /** Returns a new folder for temporary data, removed when this process ends. */
  createTemporaryDataFolder(label: string): string;
}

// A dynamic import, because the runtime is compiled for its image without deploy/local and its packages.
const path = "../../../deploy/local/servers.ts";
const servers: LocalServers = await import(path);

export const { createTemporaryDataFolder } = servers;
export const localServerStarters = {
  nats: servers.startNats,
  postgres: servers.startPostgres,
  redis: servers.startRedis,
};
