import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@pragma/contracts/service-names";
import type { ServerTlsConfig } from "@pragma/runtime/config/server-tls";
import { buildDatabaseUrlVariableName, describeDatabase } from "@pragma/runtime/config/service-databases";
import { buildPostgresConnectionOptions } from "@pragma/runtime/database/postgres";
import postgres from "postgres";

export interface ServiceDatabase {
  /** The URL of the role that owns the schemas. */
  url: string;
  variable: string;
  services: { name: ServiceName; schema: string }[];
}

/** A database whose content at one moment can be read until the snapshot is closed. */
export interface DatabaseSnapshot extends ServiceDatabase {
  /** The id of the snapshot, for `pg_dump --snapshot`. */
  id: string;
  sql: postgres.Sql;
}

/** The maximum time, in milliseconds, for which a locked outbox delays the writes of services before a new attempt. */
const lockTimeoutMs = 500;
const maxLockAttempts = 60;
const lockRetryDelayMs = 500;
const lockNotAvailable = "55P03";

/**
 * Runs `work` with a snapshot of each database, all of the same moment: services publish no events while they are taken.
 *
 * @throws `Error` when a database lacks the schema of one of its services, or when the outboxes cannot be locked.
 */
export async function withDatabaseSnapshots<Result>(
  databases: readonly ServiceDatabase[],
  tls: ServerTlsConfig,
  work: (snapshots: DatabaseSnapshot[]) => Promise<Result>,
): Promise<Result> {
  const connections = databases.map((database) => ({
    database,
    snapshots: connectToDatabase(database.url, tls),
    locks: connectToDatabase(database.url, tls),
  }));
  try {
    for (const { database, snapshots } of connections) {
      await requireReachableDatabase(snapshots, database);
      await requireServiceSchemas(snapshots, database);
    }
    const takeSnapshots = () =>
      Promise.all(
        connections.map(async ({ database, snapshots: sql }): Promise<DatabaseSnapshot> => {
          // The pool has one connection, so all queries run in this transaction, which ends with the connection.
          await sql`begin isolation level repeatable read, read only`.simple();
          const [row] = await sql<{ id: string }[]>`select pg_export_snapshot() as id`;
          return { ...database, id: row?.id ?? "", sql };
        }),
      );
    const snapshots = await (connections.length === 1
      ? takeSnapshots()
      : runWhileOutboxesAreLocked(connections, takeSnapshots));
    return await work(snapshots);
  } finally {
    await Promise.all(connections.flatMap(({ snapshots, locks }) => [snapshots.end(), locks.end()]));
  }
}

/** Runs `work` with a new connection to each database, one after the other. */
export async function forEachDatabase(
  { databases, ...tls }: ServerTlsConfig & { databases: readonly ServiceDatabase[] },
  work: (sql: postgres.Sql, database: ServiceDatabase) => Promise<void>,
): Promise<void> {
  for (const database of databases) {
    const sql = connectToDatabase(database.url, tls);
    try {
      await work(sql, database);
    } finally {
      await sql.end();
    }
  }
}

/** Opens a single connection, whose transactions may stay open for as long as a dump lasts. */
function connectToDatabase(url: string, tls: ServerTlsConfig): postgres.Sql {
  const options = buildPostgresConnectionOptions(
    { ...tls, DATABASE_URL: url },
    { application_name: "pragma backup", idle_in_transaction_session_timeout: 0, statement_timeout: 0 },
  );
  return postgres(url, { ...options, max: 1, max_lifetime: null, onnotice: () => {} });
}

/** @throws `Error` that names the environment variable of a database that cannot be reached. */
export async function requireReachableDatabase(sql: postgres.Sql, { url, variable }: ServiceDatabase): Promise<void> {
  try {
    await sql`select 1`;
  } catch (cause) {
    // Node.js reports one error for each address of a host, in an error without a message.
    const { code, message } = cause as Error & { code?: string };
    throw new Error(
      `The database ${describeDatabase(url)} cannot be reached with the URL in ${variable}: ${message || code}`,
      { cause },
    );
  }
}

async function requireServiceSchemas(sql: postgres.Sql, { url, services }: ServiceDatabase): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname in ${sql(services.map(({ schema }) => schema))}`;
  const missing = services.find(({ schema }) => !rows.some(({ name }) => name === schema));
  if (missing)
    throw new Error(
      `The database ${describeDatabase(url)} does not contain the schema ${missing.schema}. Set ${buildDatabaseUrlVariableName(missing.name)} to the URL of the database that contains it.`,
    );
}

/** Runs `work` while no transaction has written to an outbox without a commit. Services wait at their next write. */
async function runWhileOutboxesAreLocked<Result>(
  connections: readonly { database: ServiceDatabase; locks: postgres.Sql }[],
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    // All attempts must have ended before the locks are released, because an attempt that ends later would keep its own.
    const attempts = await Promise.allSettled(connections.map(lockOutboxes));
    try {
      const failed = attempts.find((outcome) => outcome.status === "rejected");
      if (!failed) return await work();
      if (failed.reason.code !== lockNotAvailable || attempt === maxLockAttempts) throw failed.reason;
    } finally {
      await Promise.allSettled(connections.map(({ locks }) => locks`rollback`.simple()));
    }
    await sleep(lockRetryDelayMs);
  }
}

async function lockOutboxes({ database, locks: sql }: { database: ServiceDatabase; locks: postgres.Sql }) {
  await sql`begin`.simple();
  await sql.unsafe(`set local lock_timeout = ${lockTimeoutMs}`);
  for (const { schema } of database.services) await sql`lock table ${sql(schema)}.outbox in share mode`;
}
