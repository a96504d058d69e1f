import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createLogger } from "../observability/logger.ts";
import { isTransient } from "../retries/transient-error.ts";
import { eventually } from "../testing/eventually.ts";
import { type InterruptingProxy, startInterruptingProxy } from "../testing/interrupting-proxy.ts";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "../testing/test-environment.ts";
import { createLeaderElection } from "./leader-election.ts";
import { migrateSchema } from "./migrate.ts";
import { createDatabasePool, type Database, type SqlClient } from "./postgres.ts";

/** The number of resets under load; undefined for the default, which depends on the size of the pool. */
const soakResetCount = Number(process.env.CONNECTION_RESETS) || undefined;
const poolSize = 3;

let environment: IsolatedTestEnvironment;
let proxy: InterruptingProxy;
let schema: string;
let server: SqlClient;
let db: Database;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  schema = `${environment.namespace}_lost`;
  server = connectTo(process.env.DATABASE_URL ?? "").sql;
  await server`create schema ${server(schema)}`;
  await server`create table parts (thing uuid, part text)`;
});
afterAll(async () => {
  await server.end();
  await environment.remove();
});
beforeEach(async () => {
  proxy = await startInterruptingProxy(process.env.DATABASE_URL ?? "");
  db = connectTo(proxy.url);
});
afterEach(async () => {
  await db.close();
  await proxy.close();
});

function connectTo(url: string, size = poolSize): Database {
  const variables = { ...environment.variables, DATABASE_URL: url, DATABASE_POOL: "2" };
  const config = readConfigFromEnvironment(commonServiceConfigSchema, variables);
  return createDatabasePool(
    { ...config, DATABASE_POOL: size },
    { schema, log: createLogger({ name: "test", level: "silent" }) },
  );
}

/** An attempt to write the two parts of a thing, and what its caller was told. */
interface Attempt {
  thing: string;
  error?: unknown;
}

async function attempt(write: (thing: string) => Promise<unknown>): Promise<Attempt> {
  const thing = randomUUID();
  try {
    await write(thing);
    return { thing };
  } catch (error) {
    return { thing, error };
  }
}

const writeInTransaction = (thing: string) =>
  db.transaction(async (tx) => {
    await tx`insert into parts values (${thing}, 'first')`;
    await tx`insert into parts values (${thing}, 'second')`;
  });

/** All statements of the transaction are sent at once, so that some of them wait for others. */
const writeAtOnceInTransaction = (thing: string) =>
  db.transaction((tx) =>
    settleAll([
      tx`insert into parts values (${thing}, 'first')`,
      tx`insert into parts values (${thing}, 'second')`,
      tx`select 1`,
    ]),
  );

const writeInOneStatement = (thing: string) =>
  db.sql`insert into parts values (${thing}, 'first'), (${thing}, 'second')`;

async function writeOnReservedConnection(thing: string): Promise<void> {
  const connection = await db.sql.reserve();
  try {
    await settleAll([connection`select pg_advisory_lock(7)`, connection`select 1`]);
    await connection`insert into parts values (${thing}, 'first'), (${thing}, 'second')`;
    await connection`select pg_advisory_unlock(7)`;
  } finally {
    connection.release();
  }
}

/** Writes nothing if it does not read all rows. */
async function writeAfterCursor(thing: string): Promise<void> {
  let count = 0;
  for await (const rows of db.sql`select generate_series(1, 40) as number, ${thing}::uuid`.cursor(10)) {
    count += rows.length;
    await new Promise(setImmediate);
  }
  if (count !== 40) throw new Error(`The cursor ended after ${count} rows.`);
  await writeInOneStatement(thing);
}

const writers = {
  writeInTransaction,
  writeAtOnceInTransaction,
  writeInOneStatement,
  writeOnReservedConnection,
  writeAfterCursor,
};

/** Waits for all, also if some fail. Throws the first error. */
async function settleAll(statements: PromiseLike<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(statements);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** Fails if a promise stays pending. */
const settled = <T>(promise: Promise<T>): Promise<T> => {
  let result: { value: T } | undefined;
  let failure: { error: unknown } | undefined;
  promise.then(
    (value) => {
      result = { value };
    },
    (error) => {
      failure = { error };
    },
  );
  return eventually("the promises to be settled", () => {
    if (!result && !failure) return undefined;
    return { result, failure };
  }).then(() => {
    if (failure) throw failure.error;
    return (result as { value: T }).value;
  });
};

/** Whether an error means that the outcome is unknown, because the connection was lost after the last statement was sent. */
const isUnknownOutcome = isTransient;

async function expectNothingHalfDone(attempts: Attempt[]): Promise<void> {
  for (const { error } of attempts) if (error !== undefined && !isUnknownOutcome(error)) throw error;
  const things = attempts.map(({ thing }) => thing);
  // PostgreSQL notices a moment later that a client is gone, and then rolls back.
  const counts = await eventually("the sessions of lost connections to end", async () => {
    const rows = await server<{ thing: string; parts: string }[]>`
      select thing, string_agg(part, ' ' order by part) as parts from parts where thing = any(${things}) group by thing`;
    return new Map(rows.map(({ thing, parts }) => [thing, parts]));
  });
  for (const { thing, error } of attempts) {
    if (error === undefined) expect(counts.get(thing)).toBe("first second");
    else expect([undefined, "first second"]).toContain(counts.get(thing));
  }
}

/** Fails if a connection of the pool is not used: holds transactions open until all connections have one. */
async function expectWholePoolToWork(size = poolSize): Promise<void> {
  // An attempt before the last connection is known to be lost fails.
  await eventually("all connections to work at the same time", async () => {
    let heldCount = 0;
    const transactions = Array.from({ length: size }, () =>
      db.sql.begin(async (tx) => {
        await tx`select ${randomUUID()}::uuid`;
        heldCount += 1;
        while (heldCount < size) await sleep(5);
        await tx`select 1`;
      }),
    );
    await settled(
      Promise.all(transactions).finally(() => {
        heldCount = size;
      }),
    );
    return true;
  });
}

/** Each moment at which a connection is lost: what the client sends, and how many bytes of the response arrive. */
const moments: [string, string, number | "request"][] = [
  ["before the startup message arrives", "client_encoding", "request"],
  ["at the startup message", "client_encoding", 0],
  ["during the authentication", "client_encoding", 30],
  ["before the array types are requested", "typarray", "request"],
  ["among the array types", "typarray", 400],
  ["before begin arrives", "begin", "request"],
  ["at begin", "begin", 0],
  ["at a parsed statement", "insert into parts", 0],
  ["before a statement arrives", "insert into parts", "request"],
  ["in the response to a statement", "insert into parts", 10],
  ["before the first row", "generate_series", 0],
  ["between rows", "generate_series", 300],
  ["between batches of rows", "generate_series", 700],
  ["before commit arrives", "commit", "request"],
  ["at commit", "commit", 0],
  ["in the response to commit", "commit", 5],
  ["at an advisory lock", "pg_advisory_lock", 0],
];

describe.each(["reset", "close"] as const)("after a connection was lost (%s)", (action) => {
  it.each(moments)("%s, the pool works and nothing is half done", async (_, marker, maxBytes) => {
    const interruption = proxy.interrupt(marker, maxBytes, action);
    // More than the pool has connections, so that some wait.
    const attempts = await settled(
      Promise.all(Object.values(writers).flatMap((write) => [attempt(write), attempt(write)])),
    );
    expect(interruption.isInterrupted).toBe(true);
    await expectNothingHalfDone(attempts);
    await expectWholePoolToWork();
  });

  it("while transactions are idle, the transactions fail and their later statements do not run", async () => {
    let isReleased = false;
    let idleCount = 0;
    const attempts = Array.from({ length: poolSize }, () =>
      attempt((thing) =>
        db.transaction(async (tx) => {
          await tx`insert into parts values (${thing}, 'first')`;
          idleCount += 1;
          while (!isReleased) await sleep(5);
          await tx`insert into parts values (${thing}, 'second')`;
        }),
      ),
    );
    await eventually("the transactions to be idle", () => idleCount === poolSize);
    if (action === "reset") proxy.resetConnections();
    else proxy.destroyConnections();
    const results = await settled(Promise.all(attempts));
    isReleased = true;
    expect(results.map(({ error }) => isTransient(error))).toEqual([true, true, true]);
    await expectNothingHalfDone(results);
    await expectWholePoolToWork();
  });

  it("while it is idle, the next statements succeed or fail at once", async () => {
    await expectWholePoolToWork();
    if (action === "reset") proxy.resetConnections();
    else proxy.destroyConnections();
    await expectNothingHalfDone(await settled(Promise.all(Object.values(writers).map(attempt))));
    await expectWholePoolToWork();
  });

  it("between the batches of a cursor, the cursor fails instead of ending", async () => {
    const read = async () => {
      const numbers: number[] = [];
      for await (const rows of db.sql<{ number: number }[]>`select generate_series(1, 30) as number`.cursor(10)) {
        numbers.push(...rows.map(({ number }) => number));
        if (numbers.length > 10) continue;
        if (action === "reset") proxy.resetConnections();
        else proxy.destroyConnections();
        await eventually("the connection to be lost", () => proxy.connectionCount === 0);
        await db.sql`select 1`.catch(() => {});
      }
      return numbers;
    };
    await expect(settled(read())).rejects.toSatisfy(isTransient);
    await expectWholePoolToWork();
  });

  it("while statements wait for a reserved connection, they are served later", async () => {
    const holders = await Promise.all(Array.from({ length: poolSize }, () => db.sql.reserve()));
    const waiting = Array.from({ length: poolSize }, async () => (await db.sql.reserve()).release());
    if (action === "reset") proxy.resetConnections();
    else proxy.destroyConnections();
    for (const holder of holders) await expect(settled(holder`select 1`.then())).rejects.toSatisfy(isTransient);
    for (const holder of holders) holder.release();
    await settled(Promise.all(waiting));
    await expectWholePoolToWork();
  });
});

it.each([
  [poolSize, soakResetCount ?? 200],
  [1, soakResetCount ?? 50],
])(
  "a pool of %i survives %i resets under load",
  { timeout: 60_000 + 100 * (soakResetCount ?? 200) },
  async (size, resetCount) => {
    await db.close();
    db = connectTo(proxy.url, size);
    const leaders = createLeaderElection({ DATABASE_URL: proxy.url }, schema);
    let resets = 0;
    const attempts: Attempt[] = [];
    const work = async (write: (thing: string) => Promise<unknown>) => {
      while (resets < resetCount) attempts.push(await attempt(write));
    };
    const lead = async () => {
      while (resets < resetCount) {
        await leaders.tryBecomeLeader("role").catch((error) => expect(isTransient(error)).toBe(true));
        await leaders.checkConnection().catch((error) => expect(isTransient(error)).toBe(true));
      }
    };
    const all = [...Object.values(writers), ...Object.values(writers)].map(work);
    const load = Promise.all([...all, lead()]);
    while (resets < resetCount) {
      resets += proxy.resetConnections(1 + (resets % 2));
      await sleep(Math.random() * 15);
    }
    await settled(load);
    await expectNothingHalfDone(attempts);
    expect(attempts.some(({ error }) => error === undefined)).toBe(true);
    await expectWholePoolToWork(size);
    expect(await eventually("a leader", () => leaders.tryBecomeLeader("role"))).toBe(true);
    await leaders.close();
  },
);

it("applies each migration once, although connections are reset", { timeout: 60_000 }, async () => {
  const log = createLogger({ name: "test", level: "silent" });
  const migrated = migrateSchema(db, { module: import.meta.url, canMigrate: true, log });
  for (const [marker, maxBytes] of [
    ["pg_advisory_xact_lock", 0],
    ["insert into migrations", "request"],
    ["commit", 0],
  ] as const) {
    const interruption = proxy.interrupt(marker, maxBytes, "reset");
    await eventually(`a reset at ${marker}`, () => interruption.isInterrupted);
  }
  await settled(migrated);
  const names = (await server<{ name: string }[]>`select name from migrations`).map(({ name }) => name);
  expect(names).not.toEqual([]);
  expect(names).toEqual([...new Set(names)]);
  await expectWholePoolToWork();
});

it("rejects only the statement that cannot be sent, and not the statement before it", async () => {
  const sql = postgres(proxy.url, { max: 1 });
  await sql`select 1`;
  const invalid = undefined as unknown as string;
  const results = await settled(Promise.allSettled([sql`select 1`, sql`select ${invalid}::text`, sql`select 2`]));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await sql.end();
});

it("reserves a connection for a transaction that begins behind many statements", async () => {
  const sql = postgres(proxy.url, { max: 2, ...({ max_pipeline: 2 } as object) });
  await Promise.all([sql`select 1`, sql`select 1`]);
  const statements = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0 ? sql`select 1`.then() : sql.begin((tx) => tx`select txid_current()`),
  );
  await settled(Promise.all(statements));
  await sql.end();
});

it("destroys a connection on which a statement gets no response, and replaces it", async () => {
  const sql = postgres(proxy.url, { max: 1, response_timeout: 1, queue_timeout: 30, backoff: () => 0.02 });
  await sql`select 1`;
  const interruption = proxy.interrupt("insert", "request", "pause");
  const attempts = [sql.begin((tx) => tx`insert into parts values (null, null)`), sql`select 1`];
  const results = await settled(Promise.allSettled(attempts));
  expect(results[0]).toMatchObject({ reason: { code: "RESPONSE_TIMEOUT" } });
  expect(isTransient((results[0] as PromiseRejectedResult).reason)).toBe(true);
  interruption.end();
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  await sql.end();
});

it("does not wait for a connection forever", async () => {
  const sql = postgres(proxy.url, { max: 1, queue_timeout: 1 });
  const holder = await sql.reserve();
  const waiting = [sql`select 1`, sql.begin((tx) => tx`select 1`), sql.reserve()];
  const results = await settled(Promise.allSettled(waiting));
  for (const result of results) {
    expect(result).toMatchObject({ status: "rejected", reason: { code: "QUEUE_TIMEOUT" } });
    expect(isTransient((result as PromiseRejectedResult).reason)).toBe(true);
  }
  holder.release();
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  await sql.end();
});
