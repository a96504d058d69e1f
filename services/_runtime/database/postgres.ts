import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import postgres from "postgres";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { buildPostgresTlsOptions, type ServerTlsConfig } from "../config/server-tls.ts";
import type { Logger } from "../observability/logger.ts";

// Queries return bigints as numbers, because amounts and counts are safe integers.
type PostgresTypes = { bigint: number; date: Date };

/** A postgres.js client with the types of this product. */
export type SqlClient = postgres.Sql<PostgresTypes>;
export type SqlTransaction = postgres.TransactionSql<PostgresTypes>;
/** A fragment of a query. */
export type SqlFragment = postgres.PendingQuery<postgres.Row[]>;

/** A connection pool for the schema of a service. Unqualified names in queries refer to that schema. */
export interface Database {
  sql: SqlClient;
  schema: string;
  /** Runs `work` in a transaction; events published in it are sent once it has committed. */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  /** Called after each commit of a transaction that published events; set by the relay. */
  onEventsPublished: () => void;
  close(): Promise<void>;
}

type AfterCommitCallback = (database: Database) => void;
const afterCommitCallbacks = new WeakMap<SqlTransaction, Set<AfterCommitCallback>>();

/** Calls `callback`, which must not throw, after the transaction has committed: once, even if registered repeatedly. */
export function runAfterCommit(tx: SqlTransaction, callback: AfterCommitCallback): void {
  afterCommitCallbacks.set(tx, (afterCommitCallbacks.get(tx) ?? new Set()).add(callback));
}

const millisecondsPerSecond = 1000;

/** The configuration of a connection to PostgreSQL. */
export type PostgresConfig = Pick<CommonServiceConfig, "DATABASE_URL"> & ServerTlsConfig;

/**
 * Returns the options of every session: a connect timeout of 5 seconds, and keep-alives with which PostgreSQL detects a
 * vanished process within half a minute and releases its locks.
 */
export function buildPostgresSessionOptions(config: PostgresConfig, settings: Record<string, string | number>) {
  const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
  return {
    ssl: buildPostgresTlsOptions(config.DATABASE_URL, config),
    connect_timeout: 5,
    connection: { ...keepAlive, tcp_user_timeout: 20 * millisecondsPerSecond, ...settings },
  };
}

export function createDatabasePool(
  config: PostgresConfig & Pick<CommonServiceConfig, "DATABASE_POOL">,
  { schema, log }: { schema: string; log: Logger },
): Database {
  const sql = postgres(config.DATABASE_URL, {
    ...buildPostgresSessionOptions(config, {
      // Unique to this process, so that its connections can be identified.
      application_name: `${schema} ${randomBytes(4).toString("hex")}`,
      search_path: schema,
      statement_timeout: 30 * millisecondsPerSecond,
      idle_in_transaction_session_timeout: 60 * millisecondsPerSecond,
    }),
    max: config.DATABASE_POOL,
    // Reconnects quickly and often: while the server is unavailable, queries fail fast and their callers retry.
    backoff: () => 0.02 + Math.random() * 0.03,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    keep_alive: 10,
    // Columns are snake_case in PostgreSQL and camelCase in the code, in selected and in inserted rows.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // Strings are passed unchanged, because a Date would lose microseconds and cannot be infinite.
      date: { to: 1184, from: [1082, 1114, 1184], serialize: serializeDate, parse: (text: string) => new Date(text) },
    },
    onnotice: (notice) => log.debug({ notice: notice.message }, "PostgreSQL notice"),
  });
  const database: Database = {
    sql,
    schema,
    async transaction(work) {
      const { value, tx } = await sql.begin(async (tx) => ({ value: await work(tx), tx }));
      for (const callback of afterCommitCallbacks.get(tx) ?? []) callback(database);
      return value as Awaited<ReturnType<typeof work>>;
    },
    onEventsPublished() {},
    close: () => sql.end({ timeout: 5 }),
  };
  return database;
}

function serializeDate(date: Date | string): string {
  return date instanceof Date ? date.toISOString() : date;
}

/** Caches the column names of properties, which are few but needed for each row. */
const columnNameCache = new LRUCache<string, string>({ max: 1_000, memoMethod: (name) => postgres.fromCamel(name) });

/** Returns rows as one parameter for `jsonb_to_recordset`, with column names instead of property names. */
export function toRecordsetParameter(sql: SqlClient | SqlTransaction, rows: readonly object[]) {
  return sql.json(
    rows.map((row) => {
      const columns: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row)) columns[columnNameCache.memo(name)] = value;
      return columns as postgres.JSONValue;
    }),
  );
}

/** Returns the key of an advisory lock: the same in every instance for the same schema and name. */
export function computeAdvisoryLockKey(schema: string, name: string): string {
  return createHash("sha256").update(`${schema} ${name}`).digest().readBigInt64BE().toString();
}

/** Waits for the lock with this name in a service's schema, and holds it until the transaction ends. */
export async function acquireTransactionLock(tx: SqlTransaction, { schema }: Database, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${computeAdvisoryLockKey(schema, name)}::bigint)`;
}
