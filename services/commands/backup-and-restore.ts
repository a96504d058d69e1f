import { type ExecFileException, execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import {
  type CompressingObjectStore,
  createObjectStore,
  ObjectNotFoundError,
} from "@pragma/runtime/object-store/object-store";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import { z } from "zod";

/** The configuration of a backup or a restore: the database and the object store to back up or to restore to. */
export const backupConfigSchema = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  OBJECT_STORE: z.string(),
  NAMESPACE: z.string().default("pragma"),
});
type BackupConfig = z.infer<typeof backupConfigSchema>;

/** The description of a backup, stored in its `manifest.json`. */
const backupManifest = z.object({
  namespace: z.string(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  objects: z.int().min(0),
});
type BackupManifest = z.infer<typeof backupManifest>;

/** Returns the paths and URLs of the files in a backup's folder: the database dump, the objects and the manifest. */
const backupPathsOf = (folder: string) => ({
  database: join(folder, "database.dump"),
  objects: pathToFileURL(join(resolve(folder), "objects")).href,
  manifest: join(folder, "manifest.json"),
});

const maxConcurrentCopies = 16;

/**
 * Writes to a folder all data that cannot be recomputed: first a consistent dump of the database, then the till bodies
 * to which the database refers. A body can be missing only if it is removed during the backup, because till-ingest
 * stores a body before the row that refers to it. If the folder contains an earlier backup, replaces the dump and the
 * manifest, and adds the bodies that the folder does not contain yet.
 */
export async function createDatabaseAndTillBackup(config: BackupConfig, folder: string): Promise<BackupManifest> {
  const { DATABASE_URL, OBJECT_STORE, NAMESPACE: namespace } = config;
  const startedAt = new Date().toISOString();
  const paths = backupPathsOf(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await runPostgresProgram("pg_dump", DATABASE_URL, [
    "--format=custom",
    "--no-owner",
    "--no-privileges",
    `--schema=${namespace}_*`,
    `--file=${paths.database}`,
  ]);
  const objects = await copyObjects(config, { from: OBJECT_STORE, to: paths.objects });
  const manifest = { namespace, startedAt, endedAt: new Date().toISOString(), objects };
  await writeFile(paths.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/**
 * Restores a backup to an empty database and an empty object store. NATS and Redis must be empty too, because events
 * and jobs from the time before the restore could contradict the restored data. Afterwards, services publish the unsent
 * events and the events of unfinished tills from the database, and enqueue the unfinished jobs.
 *
 * @throws `Error` before it writes any data, if the database already has schemas of the namespace, or if the backup
 * contains another namespace.
 */
export async function restoreDatabaseAndTillBackup(config: BackupConfig, folder: string): Promise<BackupManifest> {
  const { DATABASE_URL, OBJECT_STORE, NAMESPACE } = config;
  const paths = backupPathsOf(folder);
  const manifest = backupManifest.parse(JSON.parse(await readFile(paths.manifest, "utf8")));
  if (manifest.namespace !== NAMESPACE) {
    throw new Error(`The backup contains the namespace ${manifest.namespace}, but NAMESPACE is ${NAMESPACE}.`);
  }
  await withDatabase(config, requireEmptyDatabase);
  await runPostgresProgram("pg_restore", DATABASE_URL, [
    "--no-owner",
    "--no-privileges",
    "--exit-on-error",
    "--single-transaction",
    paths.database,
  ]);
  await copyObjects(config, { from: paths.objects, to: OBJECT_STORE });
  return manifest;
}

async function requireEmptyDatabase(sql: postgres.Sql, { NAMESPACE }: BackupConfig): Promise<void> {
  const [row] = await sql<{ names: string | null }[]>`
    select string_agg(nspname, ', ') as names from pg_namespace where starts_with(nspname, ${`${NAMESPACE}_`})`;
  if (row?.names)
    throw new Error(
      `The database is not empty. It contains the schemas ${row.names}. Restore the backup to another database.`,
    );
}

/**
 * Copies all till bodies that the database references to another object store. Returns the number of these bodies,
 * including those that no longer exist.
 */
async function copyObjects(config: BackupConfig, urls: { from: string; to: string }): Promise<number> {
  const from = createObjectStore(urls.from);
  const to = createObjectStore(urls.to);
  try {
    const keys = await withDatabase(config, listObjectKeys);
    const remainingKeys = keys.values();
    const copyRemaining = async () => {
      for (const key of remainingKeys) await copyObject(key, from, to);
    };
    await Promise.all(Array.from({ length: maxConcurrentCopies }, copyRemaining));
    return keys.length;
  } finally {
    await from.close();
    await to.close();
  }
}

/** Runs a query on a new connection, closes the connection, and returns the result of the query. */
async function withDatabase<Result>(
  config: BackupConfig,
  query: (sql: postgres.Sql, config: BackupConfig) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(config.DATABASE_URL, { max: 1, onnotice: () => {} });
  try {
    return await query(sql, config);
  } finally {
    await sql.end();
  }
}

async function listObjectKeys(sql: postgres.Sql, { NAMESPACE }: BackupConfig): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select distinct object_key as key from ${sql(buildServiceSchemaName(NAMESPACE, "till-ingest"))}.till_versions
    where body_removed_at is null`;
  return rows.map(({ key }) => key);
}

/** Copies an object. Does nothing if the object no longer exists, or if a copy exists, because objects never change. */
async function copyObject(key: string, from: CompressingObjectStore, to: CompressingObjectStore): Promise<void> {
  try {
    if (await objectExists(key, to)) return;
    await to.put(key, await from.get(key));
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) throw error;
  }
}

async function objectExists(key: string, store: CompressingObjectStore): Promise<boolean> {
  try {
    const { body } = await store.stream(key);
    await body.cancel();
    return true;
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return false;
    throw error;
  }
}

/**
 * Runs a PostgreSQL client program on a database. Passes the password in the environment, because other users of the
 * machine can read the arguments of a process.
 *
 * @throws `Error` when the program is not installed, or when it fails. After a failure, the message contains the end of
 * the program's error output.
 */
async function runPostgresProgram(
  program: "pg_dump" | "pg_restore",
  databaseUrl: string,
  options: string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const env = { ...process.env, ...(password && { PGPASSWORD: password }) };
  const args = [`--dbname=${url.href}`, ...options];
  const execution = promisify(execFile)(program, args, { env, maxBuffer: Number.POSITIVE_INFINITY });
  await execution.catch((cause: ExecFileException) => {
    if (typeof cause.code === "number")
      throw new Error(`${program} exited with code ${cause.code}:\n${cause.stderr?.slice(-4_000)}`);
    throw new Error(`${program} cannot be run. Is the PostgreSQL client installed and in PATH?`, { cause });
  });
}
