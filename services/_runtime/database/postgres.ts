import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import postgres from "postgres";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { buildPostgresTlsOptions, type ServerTlsConfig } from "../config/server-tls.ts";
import type { EventStreamKind } from "../messaging/event-streams.ts";
import type { Logger } from "../observability/logger.ts";
import { productVersion } from "../process/product-version.ts";
import { TransientError } from "../retries/transient-error.ts";
import { createReplicaReader } from "./read-replica.ts";
import type { SqlClient, SqlFragment, SqlTransaction } from "./sql-types.ts";

export type { SqlClient, SqlFragment, SqlTransaction };

/** A connection pool for the schema of a service. Unqualified names in queries refer to that schema. */
export interface Database {
  sql: SqlClient;
  /** The connections of `lookUp`. */
  lookups: SqlClient;
  /** The pool of the read replica, which may lack recent writes. `read` decides whether it can be used. */
  replica: SqlClient | undefined;
  schema: string;
  /** The settings of its connections, for threads that open a connection of their own. */
  connectionConfig: PostgresConfig;
  /** Runs `work` in a transaction. The events that `work` publishes are sent after the transaction has committed. */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  /**
   * Runs queries that only read rows of one location on the read replica, if it has all writes of the location that
   * `recordLocationWrite` recorded. Otherwise, or if the replica fails, `work` runs on the primary server.
   */
  read<T>(locationId: string | null, work: (database: Pick<Database, "sql">) => Promise<T>): Promise<T>;
  /**
   * Runs queries as `read` does, which find few rows by their keys. They share a few connections, on which they are sent
   * one after the other without waiting for the results, so that many of them need one system call.
   */
  lookUp<T>(locationId: string | null, work: (database: Pick<Database, "sql">) => Promise<T>): Promise<T>;
  /** Called after each commit of events, for each of their streams. The outbox relay sets this callback. */
  onEventsPublished: (kind: EventStreamKind) => void;
  close(): Promise<void>;
}

type AfterCommitCallback = (database: Database) => void;
const afterCommitCallbacks = new WeakMap<SqlTransaction, Set<AfterCommitCallback>>();

/** Calls `callback` once after the transaction has committed. `callback` must not throw. */
export function runAfterCommit(tx: SqlTransaction, callback: AfterCommitCallback): void {
  const callbacks = afterCommitCallbacks.get(tx);
  if (!callbacks) throw new Error("The transaction was not started with `Database.transaction`.");
  callbacks.add(callback);
}

/** The maximum duration of a statement, and of waiting for a connection of the pool. */
const statementTimeoutSeconds = 30;
/** Longer than the statement timeout, so that PostgreSQL can first report that a statement exceeded that timeout. */
const responseTimeoutSeconds = statementTimeoutSeconds + 5;

export type PostgresConfig = Pick<CommonServiceConfig, "DATABASE_URL"> &
  Partial<Pick<CommonServiceConfig, "DATABASE_TRANSACTION_URL">> &
  ServerTlsConfig;

/**
 * Returns the options of every session. With the keep-alives, PostgreSQL detects within 25 seconds that a client is
 * unreachable, and releases its locks. They are not startup parameters, because PgBouncer refuses these.
 */
export function buildPostgresConnectionOptions(config: PostgresConfig, settings: Record<string, string | number>) {
  const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
  return {
    ssl: buildPostgresTlsOptions(config.DATABASE_URL, config),
    connect_timeout: 5,
    connection: { ...keepAlive, tcp_user_timeout: 20_000, ...settings },
  };
}

/** More connections would send fewer statements in one system call. With one, PostgreSQL would use only one core. */
const lookupConnections = 2;

type PoolConfig = PostgresConfig & Pick<CommonServiceConfig, "DATABASE_POOL">;

export function createDatabasePool(
  config: PoolConfig & Pick<CommonServiceConfig, "DATABASE_READ_URL">,
  { schema, log }: { schema: string; log: Logger },
): Database {
  const { DATABASE_READ_URL: readUrl, DATABASE_URL, DATABASE_TRANSACTION_URL } = config;
  const { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = config;
  const sql = createSqlClient(config, { schema, log });
  const replica =
    readUrl === undefined
      ? undefined
      : createSqlClient({ ...config, DATABASE_URL: readUrl, DATABASE_TRANSACTION_URL: undefined }, { schema, log });
  const readFromReplica = replica && createReplicaReader({ primary: sql, replica }, log);
  // PgBouncer in transaction mode gets one statement at a time on a connection, so that lookups need the whole pool.
  const lookups =
    DATABASE_TRANSACTION_URL === undefined
      ? createSqlClient({ ...config, DATABASE_POOL: lookupConnections }, { schema, log })
      : sql;
  const readWith = async <T>(
    primary: SqlClient,
    locationId: string | null,
    work: (database: Pick<Database, "sql">) => Promise<T>,
  ): Promise<T> => {
    if (!readFromReplica || locationId === null) return work({ sql: primary });
    const read = await readFromReplica(locationId, (sql) => work({ sql }));
    return read ? read.result : work({ sql: primary });
  };
  const database: Database = {
    sql,
    lookups,
    replica,
    schema,
    connectionConfig: { DATABASE_URL, DATABASE_TRANSACTION_URL, TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE },
    async transaction(work) {
      const callbacks = new Set<AfterCommitCallback>();
      let result: Awaited<ReturnType<typeof work>> | undefined;
      // The callback returns nothing, because postgres.js keeps its result in memory until the connection's next use.
      await sql.begin(async (tx) => {
        afterCommitCallbacks.set(tx, callbacks);
        result = await work(tx);
      });
      for (const callback of callbacks) callback(database);
      return result as Awaited<ReturnType<typeof work>>;
    },
    read: (locationId, work) => readWith(sql, locationId, work),
    lookUp: (locationId, work) => readWith(lookups, locationId, work),
    onEventsPublished() {},
    async close() {
      await Promise.all([sql, lookups, replica].map((client) => client?.end({ timeout: 5 })));
    },
  };
  return database;
}

const newConnectionTimeoutMs = 10_000;

/** Runs a query on a connection of its own. @throws `TransientError` when PostgreSQL does not respond. */
export async function queryOnNewConnection<T>(
  config: PostgresConfig,
  query: (sql: SqlClient) => PromiseLike<T>,
): Promise<T> {
  const sql = postgres(config.DATABASE_URL, {
    ...buildPostgresConnectionOptions(config, {}),
    max: 1,
    onnotice: () => {},
  }) as unknown as SqlClient;
  try {
    return await runWithDeadline(() => query(sql), {
      timeoutMs: newConnectionTimeoutMs,
      createError: () => new TransientError("PostgreSQL does not respond on a new connection"),
    });
  } finally {
    void sql.end({ timeout: 0 }).catch(() => {});
  }
}

/** Ends the session that runs a transaction, whose id is a `pg_current_xact_id()`. This rolls it back. */
export async function terminateTransaction({ connectionConfig }: Database, transactionId: string): Promise<void> {
  await queryOnNewConnection(
    connectionConfig,
    (sql) => sql`
      select pg_terminate_backend(pid) from pg_stat_activity where backend_xid = ${transactionId}::text::xid8::xid`,
  );
}

export const buildServiceSessionSettings = (schema: string) => ({
  search_path: schema,
  statement_timeout: statementTimeoutSeconds * 1000,
  idle_in_transaction_session_timeout: 60_000,
});

/** Creates a connection pool for the schema of a service, without what `createDatabasePool` adds. */
export function createSqlClient(
  config: PoolConfig,
  {
    schema,
    log,
    hasLongStatements = false,
  }: { schema: string; log: Pick<Logger, "debug">; hasLongStatements?: boolean },
): SqlClient {
  const { DATABASE_TRANSACTION_URL: transactionUrl } = config;
  const url = transactionUrl ?? config.DATABASE_URL;
  // Shows operators which version an instance has. The random part distinguishes the instances.
  const application_name = `${schema} ${productVersion} ${randomBytes(4).toString("hex")}`;
  const settings = { application_name, ...buildServiceSessionSettings(schema) };
  return postgres(url, {
    ...buildPostgresConnectionOptions({ ...config, DATABASE_URL: url }, settings),
    // In transaction mode, statements of other connections run in the same session, which has the settings of its role.
    // PgBouncer 1.18 separates the messages of a statement if the end of the statement before it is still to come.
    ...(transactionUrl !== undefined && { connection: { application_name }, prepare: false, max_pipeline: 0 }),
    max: config.DATABASE_POOL,
    response_timeout: hasLongStatements ? null : responseTimeoutSeconds,
    queue_timeout: hasLongStatements ? null : statementTimeoutSeconds,
    // Reconnects after 20 to 50 ms, so that queries fail quickly while the server is unavailable and callers can retry.
    backoff: () => 0.02 + Math.random() * 0.03,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    keep_alive: 10,
    // Column names are snake_case in PostgreSQL and camelCase in the code, both in selected and in inserted rows.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // Strings are passed unchanged, because a Date cannot represent microseconds or `infinity`.
      date: {
        ...{ to: 1184, from: [1082, 1114, 1184], parse: (text: string) => new Date(text) },
        serialize: (date: Date | string) => (date instanceof Date ? date.toISOString() : date),
      },
    },
    onnotice: (notice) => log.debug({ notice: notice.message }, "PostgreSQL notice"),
  });
}

/** Caches the column name of each property name, because the same few names are converted for every row. */
const columnNameCache = new LRUCache<string, string>({ max: 1_000, memoMethod: (name) => postgres.fromCamel(name) });

/** Returns rows as one query parameter for `jsonb_to_recordset`. Converts property names to column names. */
export function toRecordsetParameter(sql: SqlClient | SqlTransaction, rows: readonly object[]) {
  return sql.json(
    rows.map((row) => {
      const columns: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row)) columns[columnNameCache.memo(name)] = value;
      return columns as postgres.JSONValue;
    }),
  );
}

/** Returns a constant as a part of a query's text. A statement with a parameter in its `limit` is planned each time. */
export function toSqlLiteral(sql: SqlClient | SqlTransaction, constant: number): SqlFragment {
  return sql.unsafe(String(constant)) as unknown as SqlFragment;
}

/** Plans each statement once per connection, for those about partitioned tables that find rows by their keys. */
export async function useGenericPlans(tx: SqlTransaction): Promise<void> {
  await tx`select set_config('plan_cache_mode', 'force_generic_plan', true)`;
}

export function computeAdvisoryLockKey(schema: string, name: string): string {
  return createHash("sha256").update(`${schema} ${name}`).digest().readBigInt64BE().toString();
}

/** Acquires the advisory lock with this name in a service's schema. The lock is released when the transaction ends. */
export async function lockInTransaction(tx: SqlTransaction, { schema }: Database, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${computeAdvisoryLockKey(schema, name)}::bigint)`;
}
