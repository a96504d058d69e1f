import { afterAll, beforeAll, expect, it } from "vitest";
import { createPreviousDatabaseSchema } from "../testing/previous-schema.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import type { Database } from "./postgres.ts";

let environment: IsolatedTestEnvironment;
let db: Database;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 1_000 });
  db = previous.db;
});
afterAll(async () => {
  await db.close();
  await environment.remove();
});

const findParameters = async (pattern: string) => {
  const rows = await db.sql<{ name: string; parameters: string[] | null }[]>`
    select relname as name, reloptions as parameters from pg_class
    where relnamespace = ${db.schema}::regnamespace and relname like ${pattern} and relkind in ('r', 'p') order by 1`;
  return Object.fromEntries(rows.map(({ name, parameters }) => [name, parameters]));
};

it("sets the storage parameters of a table", async () => {
  expect(await findParameters("event_attempts")).toEqual({
    event_attempts: ["fillfactor=80", "autovacuum_vacuum_scale_factor=0", "autovacuum_vacuum_threshold=500"],
  });
});

it("sets the storage parameters of each partition of a partitioned table", async () => {
  await db.sql`create table things (id int primary key) partition by hash (id)`;
  await db.sql`create table things_p00 partition of things for values with (modulus 2, remainder 0)`;
  await db.sql`create table things_p01 partition of things for values with (modulus 2, remainder 1)`;
  await db.sql`select set_storage_parameters('things', 'fillfactor = 70')`;
  const parameters = ["fillfactor=70"];
  expect(await findParameters("things%")).toEqual({ things: null, things_p00: parameters, things_p01: parameters });
});
