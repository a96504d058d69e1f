import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig, runtimeConfig } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { createTestEnvironment, type TestEnvironment } from "../testing/test-environment.ts";
import { createDatabasePool, type Database, lockUntilCommit, runAfterCommit } from "./postgres.ts";

let environment: TestEnvironment;
let database: Database;

beforeAll(async () => {
  environment = await createTestEnvironment();
  const config = readConfig(runtimeConfig, environment.variables);
  const log = createLogger({ name: "test", level: "silent" });
  const schema = `${environment.namespace}_postgres`;
  database = createDatabasePool(config, { schema, log });
  await database.sql`create schema ${database.sql(schema)}`;
  await database.sql`create table things (id int primary key)`;
});
afterAll(async () => {
  await database.close();
  await environment.remove();
});

const things = async () =>
  (await database.sql<{ id: number }[]>`select id from things order by id`).map(({ id }) => id);

describe("what follows a commit", () => {
  it("happens once what was written can be seen, in the order in which it was asked for", async () => {
    const seen: Promise<number[]>[] = [];
    const order: string[] = [];
    await database.transaction(async (tx) => {
      await tx`insert into things values (1)`;
      runAfterCommit(tx, () => seen.push(things()));
      runAfterCommit(tx, () => order.push("first"));
      runAfterCommit(tx, () => order.push("second"));
    });
    expect(await Promise.all(seen)).toEqual([[1]]);
    expect(order).toEqual(["first", "second"]);
  });

  it("does not happen when the transaction fails", async () => {
    let happened = false;
    const failing = database.transaction(async (tx) => {
      runAfterCommit(tx, () => {
        happened = true;
      });
      await tx`insert into things values (1)`;
    });
    await expect(failing).rejects.toThrow(/duplicate/);
    expect(happened).toBe(false);
  });
});

describe("a lock of a name", () => {
  it("is held by one transaction of a service at a time, and is another one in another installation", async () => {
    const lockIn = async (schema: string) => {
      await database.transaction(async (tx) => {
        await tx`set local lock_timeout = 100`;
        await lockUntilCommit(tx, { ...database, schema }, "admit things");
      });
    };
    await database.transaction(async (tx) => {
      await lockUntilCommit(tx, database, "admit things");
      await lockIn(`other_${database.schema}`);
      await expect(lockIn(database.schema)).rejects.toThrow("lock timeout");
    });
    await lockIn(database.schema);
  });
});
