import { type ExecFileException, execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { EnvironmentVariables } from "@pragma/runtime/config/environment-variables";
import { readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { type ServerTlsConfig, serverTlsConfigSchema } from "@pragma/runtime/config/server-tls";
import {
  buildDatabaseUrlVariableName,
  buildOwnerDatabaseUrlVariableName,
  describeDatabase,
  readServiceDatabaseUrls,
} from "@pragma/runtime/config/service-databases";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import type postgres from "postgres";
import { z } from "zod";
import { copyObjects, readStoredObjects, writeStoredObjects } from "./copy-objects.ts";
import {
  forEachDatabase,
  requireReachableDatabase,
  type ServiceDatabase,
  withDatabaseSnapshots,
} from "./database-snapshots.ts";

const backupConfigSchema = z.object({
  OBJECT_STORE: z.string(),
  NAMESPACE: z.string().default("pragma"),
  ...serverTlsConfigSchema.shape,
});

export type DataStoresConfig = z.infer<typeof backupConfigSchema> & { databases: ServiceDatabase[] };

/** @throws `ConfigError` that lists invalid variables, and services without a database. */
export function readDataStoresConfig(environment: EnvironmentVariables): DataStoresConfig {
  const config = readConfigFromEnvironment(backupConfigSchema, environment);
  const urls = readServiceDatabaseUrls(environment, serviceNames);
  const databases = new Map<string, ServiceDatabase>();
  for (const name of serviceNames) {
    const { owner: url } = urls[name];
    const variable = findDatabaseUrlVariable(environment, { name, url });
    const database = databases.get(url) ?? { url, variable, services: [] };
    database.services.push({ name, schema: buildServiceSchemaName(config.NAMESPACE, name) });
    databases.set(url, database);
  }
  return { ...config, databases: [...databases.values()] };
}

export function findDatabaseUrlVariable(
  environment: EnvironmentVariables,
  { name, url }: { name: ServiceName; url: string },
): string {
  const variables = ["DATABASE_URL", buildOwnerDatabaseUrlVariableName(name), buildDatabaseUrlVariableName(name)];
  return variables.find((variable) => environment[variable] === url) ?? "DATABASE_URL";
}

const backupManifest = z.object({
  namespace: z.string(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  objects: z.int().min(0),
  missingObjects: z.int().min(0).default(0),
  /** The keys of the bodies that did not have their hash, which the backup does not contain. */
  damagedObjects: z.array(z.string()).default([]),
  dumps: z.string().regex(/^dumps-\w+$/),
});
export type BackupManifest = z.infer<typeof backupManifest>;

interface BackupOptions {
  folder: string;
  log: (line: string) => void;
}

const backupPathsOf = (folder: string, dumps = "") => ({
  dumps: join(folder, dumps),
  dumpOf: (service: ServiceName) => join(folder, dumps, `${service}.dump`),
  /** The list of the bodies to copy, which exists only during a backup. */
  objectListOf: (service: ServiceName) => join(folder, dumps, `${service}.objects`),
  objects: pathToFileURL(join(resolve(folder), "objects")).href,
  manifest: join(folder, "manifest.json"),
});

/**
 * Writes all data that cannot be recomputed: dumps of all services of the same moment, then the till bodies of that moment.
 * A body can be missing only if it was removed during the backup, because it is stored before the row that refers to it.
 * Adds missing bodies to an earlier backup, and replaces its dumps last, so that it stays usable after a failure.
 */
export async function createDatabaseAndTillBackup(config: DataStoresConfig, { folder, log }: BackupOptions) {
  const { databases, OBJECT_STORE, NAMESPACE: namespace } = config;
  const startedAt = new Date().toISOString();
  const dumps = `dumps-${startedAt.replaceAll(/\W/g, "")}`;
  const paths = backupPathsOf(folder, dumps);
  await mkdir(paths.dumps, { recursive: true, mode: 0o700 });
  try {
    await withDatabaseSnapshots(databases, config, async (snapshots) => {
      await Promise.all(
        snapshots.map(async ({ url, services, id, sql }) => {
          for (const service of services) {
            const { name, schema } = service;
            log(`${name} dump`);
            await writeStoredObjects(sql, service, paths.objectListOf(name));
            await runPostgresProgram("pg_dump", { url, tls: config }, [
              ...["--format=custom", "--no-owner", "--no-privileges"],
              ...[`--schema=${schema}`, `--snapshot=${id}`, `--file=${paths.dumpOf(name)}`],
            ]);
          }
        }),
      );
    });
    const objectLists = databases.flatMap(({ services }) => services.map(({ name }) => paths.objectListOf(name)));
    const copied = await copyObjects(readStoredObjects(objectLists), { from: OBJECT_STORE, to: paths.objects, log });
    for (const list of objectLists) await rm(list);
    const manifest = { namespace, startedAt, endedAt: new Date().toISOString(), ...copied, dumps };
    await writeFile(`${paths.manifest}.new`, `${JSON.stringify(manifest, null, 2)}\n`);
    await rename(`${paths.manifest}.new`, paths.manifest);
    const isFormer = (name: string) => name.startsWith("dumps-") && name !== dumps;
    for (const name of (await readdir(folder)).filter(isFormer)) await rm(join(folder, name), { recursive: true });
    return manifest;
  } catch (error) {
    await rm(paths.dumps, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Restores a backup to empty databases, which may be others than those of the backup, and an empty object store. NATS and
 * Redis must be empty too, because earlier events and jobs could contradict the restored data. Afterwards, services
 * publish unsent events and those of unfinished tills, and enqueue unfinished jobs.
 *
 * @throws `Error` before it writes any data, if a database has schemas of the namespace, or the backup has another one.
 */
export async function restoreDatabaseAndTillBackup(config: DataStoresConfig, { folder, log }: BackupOptions) {
  const { databases, OBJECT_STORE, NAMESPACE } = config;
  const manifest = await readBackupManifest(folder);
  const paths = backupPathsOf(folder, manifest.dumps);
  if (manifest.namespace !== NAMESPACE) {
    throw new Error(`The backup contains the namespace ${manifest.namespace}, but NAMESPACE is ${NAMESPACE}.`);
  }
  await forEachDatabase(config, requireReachableDatabase);
  await forEachDatabase(config, (sql, database) => requireEmptyDatabase(sql, database, NAMESPACE));
  try {
    for (const { url, services } of databases) {
      for (const { name } of services) {
        log(`${name} restore`);
        await runPostgresProgram("pg_restore", { url, tls: config }, [
          ...["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"],
          paths.dumpOf(name),
        ]);
      }
    }
  } catch (error) {
    // The databases had no schemas, so that the restore can be run again.
    await forEachDatabase(config, async (sql, { services }) => {
      for (const { schema } of services) await sql`drop schema if exists ${sql(schema)} cascade`;
    });
    throw error;
  }
  const listFolder = await mkdtemp(join(tmpdir(), "pragma-restore-"));
  try {
    const lists: string[] = [];
    await forEachDatabase(config, async (sql, { services }) => {
      for (const service of services) {
        const list = join(listFolder, service.name);
        await writeStoredObjects(sql, service, list);
        lists.push(list);
      }
    });
    const copied = await copyObjects(readStoredObjects(lists), { from: paths.objects, to: OBJECT_STORE, log });
    return { ...manifest, ...copied };
  } finally {
    await rm(listFolder, { recursive: true });
  }
}

async function readBackupManifest(folder: string): Promise<BackupManifest> {
  const { manifest } = backupPathsOf(folder);
  const text = await readFile(manifest, "utf8").catch((cause) => {
    const problem = `${manifest} cannot be read: ${cause.code}`;
    throw new Error(`The folder ${folder} does not contain a backup, because ${problem}`, { cause });
  });
  try {
    return backupManifest.parse(JSON.parse(text));
  } catch {
    throw new Error(`${manifest} does not describe a backup.`);
  }
}

async function requireEmptyDatabase(sql: postgres.Sql, { url }: ServiceDatabase, NAMESPACE: string): Promise<void> {
  const [row] = await sql<{ names: string | null }[]>`
    select string_agg(nspname, ', ') as names from pg_namespace where starts_with(nspname, ${`${NAMESPACE}_`})`;
  if (row?.names)
    throw new Error(
      `The database ${describeDatabase(url)} is not empty. It contains the schemas ${row.names}. Restore the backup to another database.`,
    );
}

/**
 * Runs a PostgreSQL client program, with the password in the environment, because other users can read arguments.
 *
 * @throws `Error` when the program is not installed, or with the end of its error output when it fails.
 */
async function runPostgresProgram(
  program: "pg_dump" | "pg_restore",
  { url: databaseUrl, tls }: { url: string; tls: ServerTlsConfig },
  options: string[],
): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = "";
  const { TLS_CA_FILE, TLS_CERT_FILE, TLS_KEY_FILE } = tls;
  const env = {
    ...process.env,
    ...(password && { PGPASSWORD: password }),
    ...(TLS_CA_FILE && { PGSSLROOTCERT: TLS_CA_FILE.path }),
    ...(TLS_CERT_FILE && { PGSSLCERT: TLS_CERT_FILE.path }),
    ...(TLS_KEY_FILE && { PGSSLKEY: TLS_KEY_FILE.path }),
  };
  const args = [`--dbname=${url.href}`, ...options];
  const execution = promisify(execFile)(program, args, { env, maxBuffer: Number.POSITIVE_INFINITY });
  await execution.catch((cause: ExecFileException) => {
    if (typeof cause.code === "number")
      throw new Error(`${program} exited with code ${cause.code}:\n${cause.stderr?.slice(-4_000)}`);
    throw new Error(`${program} cannot be run. Is the PostgreSQL client installed and in PATH?`, { cause });
  });
}
