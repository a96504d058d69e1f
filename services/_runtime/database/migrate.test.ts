import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { migrateSchema } from "./migrate.ts";
import { createDatabasePool, type Database } from "./postgres.ts";

const log = createLogger({ name: "test", level: "silent" });
let environment: IsolatedTestEnvironment;
let folder: string;
let db: Database;

const writeMigration = (name: string, statements: string) => writeFile(join(folder, "migrations", name), statements);
const migrate = () =>
  migrateSchema(db, {
    module: pathToFileURL(join(folder, "service.js")).href,
    canMigrate: true,
    log,
  });

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  folder = await mkdtemp(join(tmpdir(), "pragma-migrations-"));
  await mkdir(join(folder, "migrations"));
  await writeFile(join(folder, "package.json"), "{}");
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
  db = createDatabasePool(config, { schema: `${environment.namespace}_migrated`, log });
});
afterAll(async () => {
  await db?.close();
  await environment?.remove();
  await rm(folder, { recursive: true });
});

it("runs new migrations once, and refuses to start if one was changed after it ran", async () => {
  await writeMigration("001_schema.sql", "create table things (id int);");
  await migrate();
  await writeMigration("002_names.sql", "alter table things add column name text;");
  await migrate();
  await migrate();
  expect(await db.sql`select id, name from things`).toEqual([]);
  await writeMigration("001_schema.sql", "create table things (id bigint);");
  await expect(migrate()).rejects.toThrow(/001_schema\.sql of schema \S+ was edited after it ran/);
  await writeMigration("001_schema.sql", "create table things (id int);");
  await migrate();
});

it("accepts a schema that a newer version has migrated", async () => {
  await rm(join(folder, "migrations", "002_names.sql"));
  await migrate();
});
