import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import postgres from "postgres";
import type { RuntimeConfig } from "../config/runtime-config.ts";
import { buildPostgresTlsOptions, type ServerTlsConfig } from "../config/server-tls.ts";
import type { Logger } from "../observability/logger.ts";

// What queries give back: bigints as numbers, since amounts and counts are safe integers.
type PostgresTypes = { bigint: number; date: Date };

/** postgres.js with the types of this product. */
export type SqlClient = postgres.Sql<PostgresTypes>;
export type SqlTransaction = postgres.TransactionSql<PostgresTypes>;
/** A part of a query. */
export type SqlFragment = postgres.PendingQuery<postgres.Row[]>;

/** A service's own schema, reached through a pool. Unqualified names in queries are the schema's. */
export interface Database {
  sql: SqlClient;
  schema: string;
  /** Runs `work` in a transaction; events published in it leave once it has committed. */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  /** Called after each commit of a transaction that published events; set by the relay. */
  onEventsPublished: () => void;
  close(): Promise<void>;
}

type AfterCommitCallback = (database: Database) => void;
const afterCommitCallbacks = new WeakMap<SqlTransaction, Set<AfterCommitCallback>>();

/** Calls `followUp`, which must not throw, once the transaction has committed, and once only; never when it does not. */
export function runAfterCommit(tx: SqlTransaction, callback: AfterCommitCallback): void {
  afterCommitCallbacks.set(tx, (afterCommitCallbacks.get(tx) ?? new Set()).add(callback));
}

export const millisecondsPerSecond = 1000;

/** How PostgreSQL is reached. */
export type PostgresConfig = Pick<RuntimeConfig, "DATABASE_URL"> & ServerTlsConfig;

/**
 * What every session asks for: to be connected within 5 seconds, and that PostgreSQL notices within half a minute that
 * this process has gone without a word, and then lets go of its locks.
 */
export function buildSessionOptions(config: PostgresConfig, settings: Record<string, string | number>) {
  const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
  return {
    ssl: buildPostgresTlsOptions(config.DATABASE_URL, config),
    connect_timeout: 5,
    connection: { ...keepAlive, tcp_user_timeout: 20 * millisecondsPerSecond, ...settings },
  };
}

export function createDatabasePool(
  config: PostgresConfig & Pick<RuntimeConfig, "DATABASE_POOL">,
  { schema, log }: { schema: string; log: Logger },
): Database {
  const sql = postgres(config.DATABASE_URL, {
    ...buildSessionOptions(config, {
      // Of this process alone, so that its connections can be told from those of others.
      application_name: `${schema} ${randomBytes(4).toString("hex")}`,
      search_path: schema,
      statement_timeout: 30 * millisecondsPerSecond,
      idle_in_transaction_session_timeout: 60 * millisecondsPerSecond,
    }),
    max: config.DATABASE_POOL,
    // A server that was away is tried again at once and often: while it is away, queries fail fast and are retried above.
    backoff: () => 0.02 + Math.random() * 0.03,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    keep_alive: 10,
    // Columns are snake_case in PostgreSQL and camelCase here, in rows that come and in those that are inserted.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      // Text goes as it is: a Date would lose microseconds, and has no infinity.
      date: { to: 1184, from: [1082, 1114, 1184], serialize: serializeDate, parse: (text: string) => new Date(text) },
    },
    onnotice: (notice) => log.debug({ notice: notice.message }, "notice from PostgreSQL"),
  });
  const database: Database = {
    sql,
    schema,
    async transaction(work) {
      const { value, tx } = await sql.begin(async (begun) => ({ value: await work(begun), tx: begun }));
      for (const followUp of afterCommitCallbacks.get(tx) ?? []) followUp(database);
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

/** Names of columns by those of properties: they are few, and needed for each row. */
const columnNameCache = new LRUCache<string, string>({ max: 1_000, memoMethod: (name) => postgres.fromCamel(name) });

/** Returns rows as one parameter for `jsonb_to_recordset`, their properties under the names of columns. */
export function toRecordsetParameter(sql: SqlClient | SqlTransaction, rows: readonly object[]) {
  return sql.json(
    rows.map((row) => {
      const columns: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row)) columns[columnNameCache.memo(name)] = value;
      return columns as postgres.JSONValue;
    }),
  );
}

/** A key for PostgreSQL's advisory locks, the same in every instance for the same name in the same schema. */
export function computeAdvisoryLockKey(schema: string, name: string): string {
  return createHash("sha256").update(`${schema} ${name}`).digest().readBigInt64BE().toString();
}

/** Waits for the lock of this name among those of a service, and holds it until the transaction ends. */
export async function lockUntilCommit(tx: SqlTransaction, { schema }: Database, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${computeAdvisoryLockKey(schema, name)}::bigint)`;
}
