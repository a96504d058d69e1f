/** The private servers, for tests and benches: other projects are compiled with these declarations alone. */

export interface ServerOptions {
  /** The server's own folder: data and log. Made when absent. */
  dataFolder: string;
  /** Default: any free port. Give a stopped or killed server's port to start it again in its place. */
  port?: number;
  /** Receives what a person should know: that a server ended by itself. Default: nobody. */
  log?: (line: string) => void;
  /** More of the configuration of NATS or Redis: users, for instance. */
  config?: string;
}

export interface PostgresOptions extends ServerOptions {
  /** false switches fsync and its like off: for data that nobody misses after a power cut. Default: true. */
  durable?: boolean;
  /** Changes how it is started. */
  change?: (launch: Launch) => Launch;
}

/** How to start a server. */
export interface Launch {
  command: string;
  args: string[];
  /** Instead of this process's, with English messages. */
  env?: NodeJS.ProcessEnv;
  /** When not this process's. */
  user?: { uid: number; gid: number } | undefined;
  /** Runs it in a container, which has the server's folder in the same place, read-only, and its data in a volume. */
  container?: { image: string; dataPath: string };
}

export interface RunningServer {
  url: string;
  port: number;
  pid: number;
  /** Ends it gracefully and waits until it has ended. */
  stop(): Promise<void>;
  /** SIGKILL, as a power cut: waits until the process is gone; the data stays. */
  kill(): Promise<void>;
  /** Stops it in its tracks, so that it takes connections and answers nobody, until it is resumed. */
  hang(): void | Promise<void>;
  resume(): void | Promise<void>;
}

export interface ServerUrls {
  DATABASE_URL: string;
  NATS_URL: string;
  REDIS_URL: string;
}

/** Starts a private PostgreSQL with the database `pragma` (UTF-8), never as root. */
export function startPostgres(options: PostgresOptions): Promise<RunningServer>;
/** Starts a private NATS with JetStream on file storage. */
export function startNats(options: ServerOptions): Promise<RunningServer>;
/** Starts a private Redis that keeps an append-only file and no snapshots. */
export function startRedis(options: ServerOptions): Promise<RunningServer>;

/** A new folder for throw-away data, removed when this process ends. */
export function temporaryDataFolder(label: string): string;
/** Removes a data folder whose servers have stopped. */
export function removeDataFolder(folder: string): Promise<void>;
