import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../concurrency/sleep.ts";
import type { Logger } from "../observability/logger.ts";
import { findPackageFolder } from "../process/package-folder.ts";
import { isTransient, TransientError } from "../retries/transient-error.ts";
import { computeAdvisoryLockKey, type Database } from "./postgres.ts";

type Migration = Awaited<ReturnType<typeof readMigrations>>[number];

/** How long a database that is still coming up is waited for, in milliseconds. */
const maxWaitMs = 60_000;

/**
 * Brings a service's schema up to date: the runtime's own tables first, then those of the service's package. Where this
 * process may not migrate, it waits for whoever may.
 *
 * Instances that start at once take turns under an advisory lock. Each migration runs once, in a transaction of its
 * own. A schema that is ahead of this code is left as it is: while instances are exchanged, both versions run on it, and
 * migrations are written so that they can. Throws when a migration that has run was edited since, and when a minute was
 * not enough.
 */
export async function prepareDatabaseSchema(
  database: Database,
  { module, mayMigrate, log }: { module: string; mayMigrate: boolean; log: Logger },
): Promise<void> {
  const folders = new Set([import.meta.url, module].map(findPackageFolder));
  const known = (await Promise.all([...folders].map(readMigrations))).flat();
  const deadline = Date.now() + maxWaitMs;
  for (;;) {
    try {
      return await (mayMigrate ? migrate(database, known, log) : assertMigrated(database, known, log));
    } catch (error) {
      if (!isTransient(error) || Date.now() > deadline) throw error;
      log.warn({ err: error }, "the database is not ready; trying until it is");
      await sleep(1_000);
    }
  }
}

async function migrate(database: Database, known: Migration[], log: Logger): Promise<void> {
  const lock = computeAdvisoryLockKey(database.schema, "migrate");
  const connection = await database.sql.reserve();
  try {
    // Waiting for another instance's migration, and a migration itself, may take longer than a request's query.
    await connection`set statement_timeout = 0`;
    await connection`select pg_advisory_lock(${lock}::bigint)`;
    try {
      await connection`create schema if not exists ${connection(database.schema)}`;
      await connection`
        create table if not exists migrations (
          name text primary key, checksum text not null, applied_at timestamptz not null default now()
        )`;
      for (const { name, statements, checksum } of await findPendingMigrations(database, known, log)) {
        await database.sql.begin(async (tx) => {
          await tx`set local statement_timeout = 0`;
          await tx.unsafe(statements);
          await tx`insert into migrations ${tx({ name, checksum })}`;
        });
        log.info({ migration: name }, "migrated");
      }
    } finally {
      await connection`select pg_advisory_unlock(${lock}::bigint)`;
      await connection`reset statement_timeout`;
    }
  } finally {
    connection.release();
  }
}

async function assertMigrated(database: Database, known: Migration[], log: Logger): Promise<void> {
  const { sql, schema } = database;
  const [found] = await sql<{ isThere: boolean }[]>`
    select to_regclass(${`${schema}.migrations`}) is not null as is_there`;
  const missing = found?.isThere ? await findPendingMigrations(database, known, log) : known;
  if (missing.length === 0) return;
  throw new TransientError(
    `Schema ${schema} waits for ${missing.length} migration(s), and MIGRATE is off: run the migrate command.`,
  );
}

async function findPendingMigrations({ sql, schema }: Database, known: Migration[], log: Logger): Promise<Migration[]> {
  const applied = await sql<{ name: string; checksum: string }[]>`select name, checksum from migrations`;
  const names = new Set(known.map(({ name }) => name));
  const ahead = applied.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  if (ahead.length > 0) log.warn({ ahead }, "the schema is ahead of this version");
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const edited = known.find(({ name, checksum }) => checksums.has(name) && checksums.get(name) !== checksum);
  if (edited) {
    throw new Error(
      `Migration ${edited.name} of schema ${schema} was edited after it ran. Restore it and write a new one.`,
    );
  }
  return known.filter(({ name }) => !checksums.has(name));
}

/** The migrations of a package, named `<folder>/<file>`, in the order of their numbers. */
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
