export interface ServerOptions {
  /** The server's own folder: data, log and record. Made when absent. */
  dataFolder: string;
  /** Default: any free port. Give a stopped or killed server's port to start it again in its place. */
  port?: number;
  /** Receives what a person should know: data placed elsewhere, a server that ended by itself. Default: nobody. */
  log?: (line: string) => void;
}

/** A server's own certificate and key, and the authority of its clients' certificates: PEM texts. */
export interface ServerCertificate {
  ca: string;
  cert: string;
  key: string;
}

export interface PostgresOptions extends ServerOptions {
  /** false switches fsync and its like off: for data that nobody misses after a power cut. Default: true. */
  durable?: boolean;
  /** Clients may reach it over TLS. */
  tls?: ServerCertificate;
}

export interface RedisOptions extends ServerOptions {
  /** The lines of its ACL file. Default: everybody may everything. */
  users?: string | undefined;
  /** Clients reach it over TLS only. */
  tls?: ServerCertificate | undefined;
}

export interface NatsOptions extends ServerOptions {
  /** More of nats-server's configuration: users, for instance. */
  config?: string;
  /** Clients reach it over TLS only, and show a certificate of their own. */
  tls?: ServerCertificate | undefined;
  /** Makes it one server of a cluster, whose servers reach each other on these ports of this machine. */
  cluster?: { name: string; port: number; others: number[] } | undefined;
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
export function startNats(options: NatsOptions): Promise<RunningServer>;
/** Starts a private Redis that keeps an append-only file and no snapshots. */
export function startRedis(options: RedisOptions): Promise<RunningServer>;

/**
 * The three servers: those that the environment names, else private ones. "start" keeps their data in `.pragma/`;
 * "test" keeps it in a temporary folder that `stop` removes.
 */
export function ensureServers(options: {
  profile: "start" | "test";
  log?: (line: string) => void;
}): Promise<{ env: ServerUrls; stop(): Promise<void> }>;

/** A new folder for throw-away data, removed when this process ends. */
export function temporaryDataFolder(label: string): string;
/** Removes a data folder whose servers have stopped, with what was placed elsewhere on its behalf. */
export function removeDataFolder(folder: string): Promise<void>;
