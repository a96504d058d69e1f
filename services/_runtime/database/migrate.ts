import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../concurrency/sleep.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import type { Logger } from "../observability/logger.ts";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";
import { isTransient, TransientError } from "../retries/transient-error.ts";
import { createSqlClient, type Database, lockInTransaction, type SqlTransaction } from "./postgres.ts";
import { requireUsableDatabase, toUnusableDatabaseError } from "./usable-database.ts";

type Migration = Awaited<ReturnType<typeof readMigrations>>[number];

/** The time, in milliseconds, after which a process that waits for the database or its migrations logs it again. */
const logIntervalMs = 5_000;

/**
 * Migrates a service's schema: first the tables of the runtime, then those of the service's package. Each migration
 * runs once, in a transaction. Accepts a schema that is newer than this version, as during a rolling update. Waits while
 * the database is not ready or, without `canMigrate`, not migrated.
 *
 * @throws `UnusableServerError` when the database cannot be used before an operator helps, or `Error` when an applied
 * migration was edited or a migration fails.
 */
export async function migrateSchema(
  database: Database,
  { module, canMigrate, log }: { module: string; canMigrate: boolean; log: Logger },
): Promise<void> {
  const folders = new Set([import.meta.url, module].map(findEnclosingPackageFolder));
  const known = (await Promise.all([...folders].map(readMigrations))).flat();
  const startedAt = Date.now();
  let logAt = startedAt;
  for (;;) {
    try {
      await requireUsableDatabase(database);
      // Checked without a lock, because a migration that was applied stays so.
      const pending = await findPendingMigrations(database, known, log);
      if (pending.length === 0) return;
      if (canMigrate) return await migrate(database, known, log);
      throw new TransientError(
        `Schema ${database.schema} has ${pending.length} pending migration(s), and MIGRATE is off: run the migrate command.`,
      );
    } catch (error) {
      const unusable = toUnusableDatabaseError(error, database.connectionConfig.DATABASE_URL);
      if (unusable || !isTransient(error)) throw unusable ?? error;
      const now = Date.now();
      if (now >= logAt) {
        const waitedSeconds = Math.round((now - startedAt) / 1000);
        log.warn(
          { schema: database.schema, waitedSeconds, reason: describeErrorChain(error) },
          "waiting for PostgreSQL or its migrations",
        );
        logAt = now + logIntervalMs;
      }
      await sleep(1_000);
    }
  }
}

async function migrate(database: Database, known: Migration[], log: Logger): Promise<void> {
  const { schema } = database;
  const config = { ...database.connectionConfig, DATABASE_TRANSACTION_URL: undefined, DATABASE_POOL: 1 };
  const sql = createSqlClient(config, { schema, log, hasLongStatements: true });
  /** Runs `work` in one instance at a time, without the timeout of normal queries. */
  const runLocked = (work: (tx: SqlTransaction) => Promise<unknown>) =>
    sql.begin(async (tx) => {
      await tx`set local statement_timeout = 0`;
      await lockInTransaction(tx, database, "migrate");
      await work(tx);
    });
  try {
    await runLocked(async (tx) => {
      await tx`create schema if not exists ${tx(schema)}`;
      await tx`
        create table if not exists migrations (
          name text primary key, checksum text not null, applied_at timestamptz not null default now()
        )`;
    });
    const pending = await findPendingMigrations(database, known, log);
    for (const [index, { name, statements, checksum }] of pending.entries())
      await runLocked(async (tx) => {
        const { count } = await tx`insert into migrations ${tx({ name, checksum })} on conflict do nothing`;
        if (count === 0) return;
        await tx.unsafe(statements);
        log.info({ migration: name, number: index + 1, count: pending.length }, "migration applied");
      });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function findPendingMigrations({ sql, schema }: Database, known: Migration[], log: Logger): Promise<Migration[]> {
  const [table] = await sql<{ exists: boolean }[]>`
    select to_regclass(${`${schema}.migrations`}) is not null as exists`;
  if (!table?.exists) return known;
  const applied = await sql<{ name: string; checksum: string }[]>`select name, checksum from migrations`;
  const names = new Set(known.map(({ name }) => name));
  const ahead = applied.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  if (ahead.length > 0) log.warn({ ahead }, "the schema is ahead of this version");
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const edited = known.find(({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum);
  if (edited) {
    throw new Error(
      `Migration ${edited.name} of schema ${schema} was edited after it ran. Restore the original file, and write a new migration.`,
    );
  }
  return known.filter(({ name }) => !checksums.has(name));
}

/** Returns the migrations of a package, sorted by number. Their names are `<folder>/<file>`. */
async function readMigrations(folder: string) {
  const files = (await readdir(join(folder, "migrations"))).filter((file) => file.endsWith(".sql")).sort();
  const owner = folder.split(/[\\/]/).at(-1);
  return Promise.all(
    files.map(async (file) => {
      const statements = await readFile(join(folder, "migrations", file), "utf8");
      return { name: `${owner}/${file}`, statements, checksum: createHash("sha256").update(statements).digest("hex") };
    }),
  );
}
