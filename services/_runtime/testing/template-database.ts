import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { serviceNames } from "@pragma/contracts/service-names";
import postgres from "postgres";
import { migrateSchema } from "../database/migrate.ts";
import { computeAdvisoryLockKey, createDatabasePool } from "../database/postgres.ts";
import { createLogger } from "../observability/logger.ts";
import { findEnclosingPackageFolder } from "../process/package-folder.ts";
import { buildServiceSchemaName } from "../service/start-service.ts";

/** The namespace of the schemas in a template. Functions contain this text only as part of the name of a schema. */
const templateNamespace = "templatenamespace";
const templatePrefix = "pragma_test_template_";
const unfinishedTemplate = `${templatePrefix}unfinished`;
const lockKey = computeAdvisoryLockKey("test templates", "change");
const servicesFolder = join(findEnclosingPackageFolder(import.meta.url), "..");

/**
 * Creates a database in which the schemas of all services are migrated, and returns its URL. The database is a copy of a
 * template, because copying takes a fifth of the time of the migrations. The first use creates the template, and removes
 * the template of other migrations.
 */
export async function createMigratedTestDatabase(serverUrl: string, name: string): Promise<string> {
  const template = `${templatePrefix}${await hashMigrations()}`;
  const admin = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    while (!(await copyTemplate(admin, template, name))) await createTemplate(admin, template, serverUrl);
  } finally {
    await admin.end();
  }
  const url = withDatabase(serverUrl, name);
  await renameSchemas(url, name);
  return url;
}

/** Removes a database, and disconnects processes that still use it. */
export async function dropTestDatabase(serverUrl: string, name: string): Promise<void> {
  const admin = postgres(serverUrl, { max: 1, onnotice: () => {} });
  await admin`drop database if exists ${admin(name)} with (force)`;
  await admin.end();
}

/** Returns the URL of another database of the same server. */
export const withDatabase = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;

async function hashMigrations(): Promise<string> {
  const hash = createHash("sha256");
  for (const owner of ["_runtime", ...serviceNames]) {
    const folder = join(servicesFolder, owner, "migrations");
    for (const file of (await readdir(folder)).sort())
      hash.update(JSON.stringify([owner, file, await readFile(join(folder, file), "utf8")]));
  }
  return hash.digest("hex").slice(0, 16);
}

const hasDatabase = async (admin: postgres.Sql, name: string) =>
  (await admin`select 1 from pg_database where datname = ${name}`).length > 0;

/** Creates a database from a template. Returns whether the template exists. */
async function copyTemplate(admin: postgres.Sql, template: string, name: string): Promise<boolean> {
  // The template is not removed while it is copied.
  await admin`select pg_advisory_lock_shared(${lockKey}::bigint)`;
  try {
    if (!(await hasDatabase(admin, template))) return false;
    // By default, PostgreSQL writes the whole template to its log, which takes twice the CPU time.
    await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`;
    return true;
  } finally {
    await admin`select pg_advisory_unlock_shared(${lockKey}::bigint)`;
  }
}

async function createTemplate(admin: postgres.Sql, template: string, serverUrl: string): Promise<void> {
  await admin`select pg_advisory_lock(${lockKey}::bigint)`;
  try {
    if (await hasDatabase(admin, template)) return;
    // Includes the unfinished template of an interrupted run.
    const others = await admin<{ name: string }[]>`
      select datname as name from pg_database where starts_with(datname, ${templatePrefix})`;
    for (const { name } of others) await admin`drop database ${admin(name)} with (force)`;
    await admin`create database ${admin(unfinishedTemplate)}`;
    await migrateServices(withDatabase(serverUrl, unfinishedTemplate));
    await admin`alter database ${admin(unfinishedTemplate)} rename to ${admin(template)}`;
  } finally {
    await admin`select pg_advisory_unlock(${lockKey}::bigint)`;
  }
}

async function migrateServices(url: string): Promise<void> {
  const log = createLogger({ name: "test", level: "silent" });
  for (const service of serviceNames) {
    const schema = buildServiceSchemaName(templateNamespace, service);
    const db = createDatabasePool({ DATABASE_URL: url, DATABASE_POOL: 2 }, { schema, log });
    const module = pathToFileURL(join(servicesFolder, service, "service.ts")).href;
    await migrateSchema(db, { module, canMigrate: true, log });
    await db.close();
  }
}

/** Replaces the namespace of the template in the names of schemas, and in functions that contain these names. */
async function renameSchemas(url: string, namespace: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const schemas = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where starts_with(nspname, ${templateNamespace})`;
  const statements = schemas.map(({ name }) => {
    const renamed = name.replace(templateNamespace, namespace);
    return `alter schema "${name}" rename to "${renamed}"`;
  });
  const functions = await sql<{ definition: string }[]>`
    select pg_get_functiondef(pg_proc.oid) as definition
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where starts_with(nspname, ${templateNamespace})
      and (array_to_string(proconfig, ' ') like ${`%${templateNamespace}%`} or prosrc like ${`%${templateNamespace}%`})`;
  for (const { definition } of functions) statements.push(definition.replaceAll(templateNamespace, namespace));
  await sql.unsafe(statements.join(";\n"));
  await sql.end();
}
