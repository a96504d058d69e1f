/** A private server, as deploy/local starts it. */
export interface LocalServer {
  url: string;
  port: number;
  pid: number;
  /** Ends it gracefully and waits until it has ended. */
  stop(): Promise<void>;
  /** SIGKILL, as a power cut: waits until the process is gone; the data stays. */
  kill(): Promise<void>;
  /** SIGSTOP stops it in its tracks, so that it takes connections and answers nobody until SIGCONT. */
  sendSignal(signal: "SIGSTOP" | "SIGCONT"): unknown;
}

type StartServer = (options: { dataFolder: string; port?: number }) => Promise<LocalServer>;

interface LocalServers {
  startNats: StartServer;
  startPostgres: StartServer;
  startRedis: StartServer;
  /** A new folder for throw-away data, removed when this process ends. */
  createTemporaryDataFolder(label: string): string;
}

// Not a static import: the runtime is compiled, for its image, without deploy/local and its packages.
const path = "../../../deploy/local/servers.ts";
const servers: LocalServers = await import(path);

export const { createTemporaryDataFolder } = servers;
export const localServerStarters = {
  nats: servers.startNats,
  postgres: servers.startPostgres,
  redis: servers.startRedis,
};
