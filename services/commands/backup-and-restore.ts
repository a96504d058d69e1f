import { type ExecFileException, execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createObjectStore, ObjectNotFound, type ObjectStore } from "@pragma/runtime/object-store/object-store";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import postgres from "postgres";
import { z } from "zod";

/** What a backup is of. */
export const backupConfig = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// URL" }),
  OBJECT_STORE: z.string(),
  NAMESPACE: z.string().default("pragma"),
});
type BackupConfig = z.infer<typeof backupConfig>;

/** What stands beside a backup's contents. */
const backupManifest = z.object({
  namespace: z.string(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  objects: z.int().min(0),
});
type BackupManifest = z.infer<typeof backupManifest>;

/** Where the parts of a backup are in its folder. */
const backupPathsOf = (folder: string) => ({
  database: join(folder, "database.dump"),
  objects: pathToFileURL(join(resolve(folder), "objects")).href,
  manifest: join(folder, "manifest.json"),
});

const maxConcurrentCopies = 16;

/**
 * Writes everything that the product could not make again into a folder: the database as it is at one moment, and then
 * the bodies of tills that it names. Objects are written before the rows that name them, so none is missing. A folder
 * that holds an earlier backup gets the new database and the objects that it lacks.
 */
export async function createBackup(config: BackupConfig, folder: string): Promise<BackupManifest> {
  const { DATABASE_URL, OBJECT_STORE, NAMESPACE: namespace } = config;
  const startedAt = new Date().toISOString();
  const parts = backupPathsOf(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await runPostgresProgram("pg_dump", DATABASE_URL, [
    "--format=custom",
    "--no-owner",
    "--no-privileges",
    `--schema=${namespace}_*`,
    `--file=${parts.database}`,
  ]);
  const objects = await copyObjects(config, { from: OBJECT_STORE, to: parts.objects });
  const manifest = { namespace, startedAt, endedAt: new Date().toISOString(), objects };
  await writeFile(parts.manifest, `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/**
 * Brings back what a backup holds, into a database and an object store that have nothing of this installation. NATS and
 * Redis are to be empty: the stream is made anew, what had not been sent is sent, tills without a result are announced
 * again, and queues fill from the database.
 *
 * @throws before anything is written when the database holds something of this namespace, or the backup is another's.
 */
export async function restoreBackup(config: BackupConfig, folder: string): Promise<BackupManifest> {
  const { DATABASE_URL, OBJECT_STORE, NAMESPACE } = config;
  const parts = backupPathsOf(folder);
  const manifest = backupManifest.parse(JSON.parse(await readFile(parts.manifest, "utf8")));
  if (manifest.namespace !== NAMESPACE) {
    throw new Error(`The backup is of the namespace ${manifest.namespace}, and NAMESPACE is ${NAMESPACE}.`);
  }
  await withDatabase(config, requireEmptyDatabase);
  await runPostgresProgram("pg_restore", DATABASE_URL, [
    "--no-owner",
    "--no-privileges",
    "--exit-on-error",
    "--single-transaction",
    parts.database,
  ]);
  await copyObjects(config, { from: parts.objects, to: OBJECT_STORE });
  return manifest;
}

async function requireEmptyDatabase(sql: postgres.Sql, { NAMESPACE }: BackupConfig): Promise<void> {
  const [row] = await sql<{ names: string | null }[]>`
    select string_agg(nspname, ', ') as names from pg_namespace where starts_with(nspname, ${`${NAMESPACE}_`})`;
  if (row?.names) throw new Error(`The database is not empty: it has ${row.names}. Restore into another one.`);
}

/** Copies the bodies that tills of the database refer to from one object store to another, some at a time; gives how many. */
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

/** Gives the answer of a query of the database. */
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

/** What has been removed since the database was read is not copied. An object of a key is the same for ever. */
async function copyObject(key: string, from: ObjectStore, to: ObjectStore): Promise<void> {
  try {
    if (await objectExists(key, to)) return;
    await to.put(key, await from.get(key));
  } catch (error) {
    if (!(error instanceof ObjectNotFound)) throw error;
  }
}

async function objectExists(key: string, store: ObjectStore): Promise<boolean> {
  try {
    const { body } = await store.stream(key);
    await body.cancel();
    return true;
  } catch (error) {
    if (error instanceof ObjectNotFound) return false;
    throw error;
  }
}

/**
 * Runs one of PostgreSQL's own programs on the database that a URL names. The password goes by the environment, where
 * other users of the machine do not see it.
 *
 * @throws with what the program said when it fails or is not there.
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
  const running = promisify(execFile)(program, args, { env, maxBuffer: Number.POSITIVE_INFINITY });
  await running.catch((cause: ExecFileException) => {
    if (typeof cause.code === "number")
      throw new Error(`${program} ended with code ${cause.code}:\n${cause.stderr?.slice(-4_000)}`);
    throw new Error(`${program} cannot be run: is PostgreSQL's client installed, and in PATH?`, { cause });
  });
}
