import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// @ts-expect-error The package declares no types for its files.
import createQueue from "../../../vendor/postgres/src/queue.js";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { createDatabasePool, type Database, lockInTransaction, runAfterCommit } from "./postgres.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

let environment: IsolatedTestEnvironment;
let database: Database;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
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

const listThingIds = async () =>
  (await database.sql<{ id: number }[]>`select id from things order by id`).map(({ id }) => id);

describe("a callback after a commit", () => {
  it("runs when the written rows are visible, in the order of registration", async () => {
    const idsAfterCommit: Promise<number[]>[] = [];
    const order: string[] = [];
    await database.transaction(async (tx) => {
      await tx`insert into things values (1)`;
      runAfterCommit(tx, () => idsAfterCommit.push(listThingIds()));
      runAfterCommit(tx, () => order.push("first"));
      runAfterCommit(tx, () => order.push("second"));
    });
    expect(await Promise.all(idsAfterCommit)).toEqual([[1]]);
    expect(order).toEqual(["first", "second"]);
  });

  it("does not run when the transaction fails", async () => {
    let hasRun = false;
    const failing = database.transaction(async (tx) => {
      runAfterCommit(tx, () => {
        hasRun = true;
      });
      await tx`insert into things values (1)`;
    });
    await expect(failing).rejects.toThrow(/duplicate/);
    expect(hasRun).toBe(false);
  });
});

describe("an ended transaction", () => {
  it("does not keep its result or its callbacks in memory while its connection is idle", async () => {
    // Not measured, because postgres.js stores the call stack of each call site's first query, and this call stack
    // prevents the collection of the first transaction's objects.
    await runTransactionWithReferences();
    const references = await runTransactionWithReferences();
    await eventually("both objects to be collected", () => {
      collectGarbage();
      return references.every((reference) => reference.deref() === undefined);
    });
  });

  /** Returns weak references to the result of a transaction and to an object that its callback uses. */
  async function runTransactionWithReferences(): Promise<WeakRef<object>[]> {
    const callbackData = { calls: 0 };
    const result = await database.transaction(async (tx) => {
      await tx`select 1`;
      runAfterCommit(tx, () => {
        callbackData.calls += 1;
      });
      return { text: "result" };
    });
    expect(callbackData.calls).toBe(1);
    return [new WeakRef(result), new WeakRef(callbackData)];
  }
});

describe("a named lock", () => {
  it("is held by one transaction at a time, separately in each schema", async () => {
    const acquireLockIn = async (schema: string) => {
      await database.transaction(async (tx) => {
        await tx`set local lock_timeout = 100`;
        await lockInTransaction(tx, { ...database, schema }, "admit things");
      });
    };
    await database.transaction(async (tx) => {
      await lockInTransaction(tx, database, "admit things");
      await acquireLockIn(`other_${database.schema}`);
      await expect(acquireLockIn(database.schema)).rejects.toThrow("lock timeout");
    });
    await acquireLockIn(database.schema);
  });
});

describe("a connection on which a statement failed after its first rows", () => {
  let connection: Database;

  beforeAll(() => {
    const config = readConfigFromEnvironment(commonServiceConfigSchema, environment.variables);
    const log = createLogger({ name: "test", level: "silent" });
    connection = createDatabasePool({ ...config, DATABASE_POOL: 1 }, { schema: database.schema, log });
  });
  afterAll(() => connection.close());

  it("returns only the rows of the next statement", async () => {
    const failing = connection.sql`
      select 1 / (5 - number), repeat('x', 9000) from generate_series(1, 10) as number`;
    await expect(failing).rejects.toThrow("division by zero");
    expect(await connection.sql`select 7 as value`).toEqual([{ value: 7 }]);
  });

  it("returns only the rows of the next statement after the server closed the connection", async () => {
    const terminated = connection.sql`
      select repeat('x', 9000), case when number = 5 then pg_terminate_backend(pg_backend_pid()) end
      from generate_series(1, 10) as number`;
    await expect(terminated).rejects.toThrow();
    for (let statement = 1; statement <= 3; statement += 1)
      expect(await connection.sql`select ${statement}::int as value`).toEqual([{ value: statement }]);
  });
});

it("sends lookups on two connections of their own, which transactions do not occupy", async () => {
  let end = () => {};
  const waiting = new Promise<void>((resolve) => {
    end = resolve;
  });
  const transactions = Array.from({ length: 12 }, () => database.transaction(() => waiting));
  const pids = await Promise.all(
    Array.from({ length: 50 }, () =>
      database.lookUp(null, async ({ sql }) => (await sql<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid),
    ),
  );
  end();
  await Promise.all(transactions);
  expect(new Set(pids).size).toBe(2);
});

it("a queue of connections or queries that is never empty does not grow", () => {
  const queue = createQueue([1, 2]);
  for (let turn = 0; turn < 1_000_000; turn += 1) queue.push(queue.shift());
  // Each of these searches the whole queue.
  for (let turn = 0; turn < 100_000; turn += 1) queue.push(queue.remove(1));
  expect([queue.length, queue.shift(), queue.shift(), queue.length]).toEqual([2, 2, 1, 0]);
}, 10_000);
