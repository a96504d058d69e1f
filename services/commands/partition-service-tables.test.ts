import { randomUUID } from "node:crypto";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { partitionServiceTables } from "./partition-service-tables.ts";

const database = `tables_${randomUUID().replaceAll("-", "")}`;
let environment: IsolatedTestEnvironment;
let shared: postgres.Sql;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  shared = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  await shared`create database ${shared(database)}`;
});
afterAll(async () => {
  await shared`drop database ${shared(database)}`;
  await shared.end();
  await environment.remove();
});

it("works in the database that a service has of its own, and records the command", async () => {
  const own = new URL(environment.variables.DATABASE_URL ?? "");
  own.pathname = `/${database}`;
  const sql = postgres(own.href, { max: 1 });
  const schema = `${environment.namespace}_reporting`;
  await sql`create schema ${sql(schema)}`;
  await sql`create table ${sql(schema)}.orders_unpartitioned (id uuid)`;
  await sql`create table ${sql(schema)}.outbox (id uuid primary key, type text, location_id uuid, body text)`;
  const variables = { ...environment.variables, REPORTING_DATABASE_URL: own.href };
  expect(await partitionServiceTables(["--drop-old", "reporting"], { environment: variables, log: () => {} })).toEqual({
    reporting: ["orders_unpartitioned"],
  });
  expect(await sql`select type from ${sql(schema)}.outbox`).toEqual([{ type: "audit.recorded" }]);
  await sql.end();
});
