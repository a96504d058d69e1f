import { createHash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import postgres from "postgres";
import type { RuntimeConfig } from "./config.ts";
import type { Logger } from "./logger.ts";
import { postgresTls, type ServerTls } from "./server-tls.ts";

// What queries give back: bigints as numbers, since amounts and counts are safe integers.
type Types = { bigint: number; date: Date };

/** postgres.js with the types of this product. */
export type Sql = postgres.Sql<Types>;
export type Transaction = postgres.TransactionSql<Types>;
/** A part of a query. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** A service's own schema, reached through a pool. Unqualified names in queries are the schema's. */
export interface Database {
  sql: Sql;
  schema: string;
  /** Runs `work` in a transaction; events published in it leave once it has committed. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Called after each commit of a transaction that published events; set by the relay. */
  onPublished: () => void;
  close(): Promise<void>;
}

type FollowUp = (database: Database) => void;
const followUps = new WeakMap<Transaction, Set<FollowUp>>();

/** Calls `followUp`, which must not throw, once the transaction has committed, and once only; never when it does not. */
export function afterCommit(tx: Transaction, followUp: FollowUp): void {
  followUps.set(tx, (followUps.get(tx) ?? new Set()).add(followUp));
}

export const seconds = 1000;

/** How PostgreSQL is reached. */
export type ServerConfig = Pick<RuntimeConfig, "DATABASE_URL"> & ServerTls;

/**
 * What every session asks for: to be connected within 5 seconds, and that PostgreSQL notices within half a minute that
 * this process has gone without a word, and then lets go of its locks.
 */
export function sessionOptions(config: ServerConfig, settings: Record<string, string | number>) {
  const keepAlive = { tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 };
  return {
    ssl: postgresTls(config.DATABASE_URL, config),
    connect_timeout: 5,
    connection: { ...keepAlive, tcp_user_timeout: 20 * seconds, ...settings },
  };
}

export function openDatabase(
  config: ServerConfig & Pick<RuntimeConfig, "DATABASE_POOL">,
  { schema, log }: { schema: string; log: Logger },
): Database {
  const sql = postgres(config.DATABASE_URL, {
    ...sessionOptions(config, {
      // Of this process alone, so that its connections can be told from those of others.
      application_name: `${schema} ${randomBytes(4).toString("hex")}`,
      search_path: schema,
      statement_timeout: 30 * seconds,
      idle_in_transaction_session_timeout: 60 * seconds,
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
      date: { to: 1184, from: [1082, 1114, 1184], serialize: dateText, parse: (text: string) => new Date(text) },
    },
    onnotice: (notice) => log.debug({ notice: notice.message }, "notice from PostgreSQL"),
  });
  const database: Database = {
    sql,
    schema,
    async transaction(work) {
      const { value, tx } = await sql.begin(async (begun) => ({ value: await work(begun), tx: begun }));
      for (const followUp of followUps.get(tx) ?? []) followUp(database);
      return value as Awaited<ReturnType<typeof work>>;
    },
    onPublished() {},
    close: () => sql.end({ timeout: 5 }),
  };
  return database;
}

function dateText(date: Date | string): string {
  return date instanceof Date ? date.toISOString() : date;
}

/** Names of columns by those of properties: they are few, and needed for each row. */
const columnNames = new LRUCache<string, string>({ max: 1_000, memoMethod: (name) => postgres.fromCamel(name) });

/** Returns rows as one parameter for `jsonb_to_recordset`, their properties under the names of columns. */
export function recordset(sql: Sql | Transaction, rows: readonly object[]) {
  return sql.json(
    rows.map((row) => {
      const columns: Record<string, unknown> = {};
      for (const [name, value] of Object.entries(row)) columns[columnNames.memo(name)] = value;
      return columns as postgres.JSONValue;
    }),
  );
}

/** A key for PostgreSQL's advisory locks, the same in every instance for the same name in the same schema. */
export function advisoryLockKey(schema: string, name: string): string {
  return createHash("sha256").update(`${schema} ${name}`).digest().readBigInt64BE().toString();
}

/** Waits for the lock of this name among those of a service, and holds it until the transaction ends. */
export async function lockUntilCommit(tx: Transaction, { schema }: Database, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${advisoryLockKey(schema, name)}::bigint)`;
}
