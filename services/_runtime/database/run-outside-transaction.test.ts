import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger, type Logger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { migrateSchema } from "./migrate.ts";
import { createDatabasePool, type Database } from "./postgres.ts";
import { parseRepeatableStatements, runsOutsideTransaction } from "./run-outside-transaction.ts";

const silentLog = createLogger({ name: "test", level: "silent" });
let environment: IsolatedTestEnvironment;
let folder: string;
const databases: Database[] = [];
let admin: postgres.Sql;
/** The URL of a database of this file: `create index concurrently` waits for all transactions of its database. */
let url: string;

function connect(): Database {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, { ...environment.variables, DATABASE_URL: url });
  const db = createDatabasePool(config, { schema: `${environment.namespace}_outside`, log: silentLog });
  databases.push(db);
  return db;
}

let migrationCount = 0;
/** Adds a migration to the package of the test. */
async function addMigration(statements: string): Promise<void> {
  migrationCount += 1;
  await writeFile(join(folder, "migrations", `${String(migrationCount).padStart(3, "0")}_test.sql`), statements);
}

const migrate = (db: Database, log: Logger = silentLog) =>
  migrateSchema(db, {
    module: pathToFileURL(join(folder, "service.js")).href,
    canMigrate: true,
    log,
  });

/** Returns the names of the valid indexes that begin with `prefix`, sorted. */
async function listValidIndexes(db: Database, prefix: string): Promise<string[]> {
  const rows = await db.sql<{ name: string }[]>`
    select relname as name from pg_class join pg_index on indexrelid = oid
    where relnamespace = ${db.schema}::regnamespace and starts_with(relname, ${prefix}) and indisvalid order by 1`;
  return rows.map(({ name }) => name);
}

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const { DATABASE_URL = "" } = environment.variables;
  admin = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
  await admin`create database ${admin(environment.namespace)}`;
  url = Object.assign(new URL(DATABASE_URL), { pathname: `/${environment.namespace}` }).href;
  folder = await mkdtemp(join(tmpdir(), "pragma-migrations-"));
  await mkdir(join(folder, "migrations"));
  await writeFile(join(folder, "package.json"), "{}");
  await addMigration(`
    create table plain (id int primary key, size int not null default 0);
    insert into plain select generate_series(1, 25);
    create table hashed (id int, size int) partition by hash (id);
    create table hashed_p00 partition of hashed for values with (modulus 2, remainder 0);
    create table hashed_p01 partition of hashed for values with (modulus 2, remainder 1);
    insert into hashed select generate_series(1, 25);`);
});
afterAll(async () => {
  await Promise.all(databases.map(({ sql }) => sql.end({ timeout: 0 })));
  await admin`drop database ${admin(environment.namespace)} with (force)`;
  await admin.end();
  await environment.remove();
  await rm(folder, { recursive: true });
});

describe("a migration outside a transaction", () => {
  it("creates and drops indexes of plain and partitioned tables", async () => {
    const db = connect();
    await addMigration(`-- outside a transaction
      -- One index; and another.
      create index concurrently if not exists plain_by_size on plain (size) where size <> length(';;');
      create index concurrently if not exists hashed_by_size on hashed (size);`);
    await migrate(db);
    expect(await listValidIndexes(db, "plain_by")).toEqual(["plain_by_size"]);
    // A valid index of the partitioned table proves that the indexes of all partitions belong to it.
    expect(await listValidIndexes(db, "hashed_by")).toEqual([
      "hashed_by_size",
      "hashed_by_size_p00",
      "hashed_by_size_p01",
    ]);
    await addMigration(`-- outside a transaction
      drop index concurrently if exists plain_by_size;
      drop index concurrently if exists hashed_by_size;`);
    await migrate(db);
    expect(await listValidIndexes(db, "plain_by")).toEqual([]);
    expect(await listValidIndexes(db, "hashed_by")).toEqual([]);
  });

  it("repeats an update until it changes no row", async () => {
    const db = connect();
    await addMigration(`-- outside a transaction
      update plain set size = 1 where id in (select id from plain where size = 0 limit 10);`);
    await migrate(db);
    expect(
      await db.sql`select count(*)::int as rows, count(distinct xmin::text)::int as batches from plain where size = 1`,
    ).toEqual([{ rows: 25, batches: 3 }]);
  });

  it("continues after an interruption, and replaces the invalid index", async () => {
    const [db, writer] = [connect(), connect()];
    await addMigration(`-- outside a transaction
      create index concurrently if not exists plain_resumed on plain (size);
      create unique index concurrently if not exists plain_resumed_last on plain (id, size);`);
    let migration: Promise<void> | undefined;
    await writer.sql.begin(async (tx) => {
      await tx`update plain set size = 2 where id = 1`;
      migration = migrate(db);
      // The index exists, but its creation waits for the end of this transaction.
      const findWaiting = () => writer.sql<{ pid: number; oid: number }[]>`
        select pid, to_regclass('plain_resumed')::oid::int as oid from pg_stat_activity
        where query like 'create index concurrently plain_resumed on%' and to_regclass('plain_resumed') is not null`;
      await eventually("the index to be invalid", async () => (await findWaiting()).length === 1);
      const [waiting] = await findWaiting();
      await writer.sql`select pg_terminate_backend(${waiting?.pid ?? 0})`;
      // The interrupted process retries. It has to drop the invalid index, for which it waits again.
      await eventually("the invalid index to remain", async () => (await findWaiting())[0]?.pid !== waiting?.pid);
      expect(await listValidIndexes(writer, "plain_resumed")).toEqual([]);
    });
    await migration;
    expect(await listValidIndexes(db, "plain_resumed")).toEqual(["plain_resumed", "plain_resumed_last"]);
  });

  it("runs once when several instances start at the same time, and causes no deadlock", async () => {
    const log = createLogger({ name: "test", level: "silent" });
    const warnings: unknown[] = [];
    log.warn = (warning: unknown) => void warnings.push(warning);
    await addMigration(`-- outside a transaction
      create index concurrently if not exists plain_shared on plain (size);`);
    const instances = [connect(), connect(), connect()];
    await Promise.all(instances.map((db) => migrate(db, log)));
    expect(warnings).toEqual([]);
    const [first] = instances as [Database];
    expect(await first.sql`select count(*)::int as applied from migrations where name like '%_test.sql'`).toEqual([
      { applied: migrationCount },
    ]);
    expect(await listValidIndexes(first, "plain_shared")).toHaveLength(1);
  });
});

describe("parseRepeatableStatements", () => {
  it("requires the marker in the first line", () => {
    expect(runsOutsideTransaction("-- outside a transaction\nselect 1")).toBe(true);
    expect(runsOutsideTransaction("-- A reason.\n-- outside a transaction\n")).toBe(false);
  });

  it("keeps semicolons and dashes in strings", () => {
    const text = "update plain set name = 'a;--''b' where id in (select id from plain limit 5)";
    expect(parseRepeatableStatements(`-- A reason; and more.\n${text};`)).toEqual([
      { kind: "change in batches", text },
    ]);
  });

  it.each([
    "create index plain_by_size on plain (size)",
    "create index concurrently plain_by_size on plain (size)",
    "drop index plain_by_size",
    "update plain set size = 1",
    "alter table plain add column name text",
    "insert into plain values (1)",
  ])("rejects a statement that cannot be repeated: %s", (statement) => {
    expect(() => parseRepeatableStatements(statement)).toThrow("MIGRATIONS.md");
  });
});
