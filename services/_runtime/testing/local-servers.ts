/** A server that was started for a test by the code in `deploy/local`. */
export interface TestServerProcess {
  url: string;
  port: number;
  pid: number;
  /** Stops the server gracefully. Resolves when its process has ended. */
  stop(): Promise<void>;
  /** Kills the process with SIGKILL, without deleting its data. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends a signal to the process. After SIGSTOP, it accepts connections but does not respond before SIGCONT. */
  sendSignal(signal: "SIGSTOP" | "SIGCONT"): unknown;
}

type StartServer = (options: { dataFolder: string; port?: number }) => Promise<TestServerProcess>;

interface LocalServers {
  startNatsServer: StartServer;
  startPostgresServer: StartServer;
  startRedisServer: StartServer;
  /** Creates a temporary folder for the data of servers, and returns its path. It is deleted when this process ends. */
  createTestServerDataFolder(label: string): string;
}

// The path is in a variable, because the compiler would reject the import of a file outside this package.
const path = "../../../deploy/local/servers.ts";
const servers: LocalServers = await import(path);

export const { createTestServerDataFolder } = servers;
export const localServerStarters = {
  nats: servers.startNatsServer,
  postgres: servers.startPostgresServer,
  redis: servers.startRedisServer,
};
