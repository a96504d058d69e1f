import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { acquireTransactionAdvisoryLock, type Database } from "@pragma/runtime/database/postgres";
import { getCompiledFile } from "@pragma/runtime/process/compiled-file";
import { createPreviousDatabaseSchema } from "@pragma/runtime/testing/previous-schema";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toStoredReportAndOrders } from "./calculate-stored-till.ts";
import { computeTillMetrics } from "./metrics/till-metrics.ts";
import { findReportOrOrderListPage } from "./queries/reports-and-orders.ts";
import { recordTillRevisionAndGetPrevious } from "./queries/tills.ts";
import { deleteReportAndOrdersOfTill, replaceStoredReportAndOrders } from "./store-report.ts";
import { computeTestTillReport } from "./testing/compute-test-report.ts";

const defaultOrderCount = 5_000;
/** The number of orders. Set `PARTITIONED_ORDERS` for a long trial, for example with 2,000,000 orders. */
const orderCount = Number(process.env.PARTITIONED_ORDERS ?? defaultOrderCount);
const isLongTrial = orderCount > 20_000;
const locationCount = 50;
const ordersPerTill = 100;
const tillsPerLocation = orderCount / locationCount / ordersPerTill;
const maxWaitMs = 2_000;

let environment: IsolatedTestEnvironment;
let db: Database;
/** The database role of a service. It has privileges on the tables of the previous version. */
let role: string;
const locationIds = Array.from({ length: locationCount }, () => randomUUID());

/** The orders that a till must have, and a text that its report and all of them must contain. */
interface ExpectedTill {
  locationId: string;
  marker: string;
  orderIds: string[];
}
/** The tills by id. Each committed push is recorded here. */
const expectedTills = new Map<string, ExpectedTill>();

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
  const previous = await createPreviousDatabaseSchema(environment, { _runtime: 9, reporting: 9 }, "reporting");
  db = previous.db;
  role = `${environment.namespace}_role`;
  await db.sql`create role ${db.sql(role)}`;
  await db.sql`grant usage on schema ${db.sql(db.schema)} to ${db.sql(role)}`;
  await db.sql`
    grant select, insert, update, delete on all tables in schema ${db.sql(db.schema)} to ${db.sql(role)}`;
  await insertRowsOfPreviousVersion();
  await previous.migrate();
}, 600_000);
afterAll(async () => {
  await db.sql`drop owned by ${db.sql(role)}`;
  await db.sql`drop role ${db.sql(role)}`;
  await db.close();
  await environment.remove();
});

async function insertRowsOfPreviousVersion(): Promise<void> {
  await db.sql`
    insert into tills (till_id, location_id, revision, pushed_at)
    select gen_random_uuid(), location_id, 1, now() - interval '1 hour'
    from unnest(${locationIds}::uuid[]) as location_id, generate_series(1, ${tillsPerLocation}::int)`;
  await db.sql`
    insert into reports
      (id, till_id, location_id, day, started_at, created_at, updated_at, etag, finalized, v2, v0, list_item)
    select till_id, till_id, location_id, '2026-03-01', now(), now(), now(), 'etag', '{}', '"first"', '"first"', '"first"'
    from tills`;
  for (const locationId of locationIds) {
    await db.sql`
      insert into orders
        (till_id, id, location_id, report_id, day, opened_at, created_at, updated_at, pushed_at, etag, v1, v2)
      select till_id, gen_random_uuid(), location_id, till_id, '2026-03-01', now(), now(), now(), pushed_at, 'etag',
        '"first"', '"' || repeat(md5(random()::text), 20) || '"'
      from tills, generate_series(1, ${ordersPerTill}::int) where location_id = ${locationId}`;
  }
  await db.sql`insert into day_counts select location_id, 'report', day, count(*) from reports group by 1, 3`;
  await db.sql`insert into day_counts select location_id, 'order', day, count(*) from orders group by 1, 3`;
  const tills = await db.sql<{ tillId: string; locationId: string; orderIds: string[] }[]>`
    select till_id, location_id, array_agg(id) as order_ids from orders group by 1, 2`;
  for (const { tillId, locationId, orderIds } of tills) {
    expectedTills.set(tillId, { locationId, marker: "first", orderIds });
  }
}

/** Runs `npm run ops -- partition-tables` in a process. Kills the process after the line that `isKilledAt` accepts. */
async function runCommand(
  words: string[],
  isKilledAt: (line: string) => boolean = () => false,
): Promise<{ exitCode: number | null; lines: string[]; output: string; errors: string }> {
  const program = getCompiledFile(new URL("../commands/ops.ts", import.meta.url));
  const child = spawn(process.execPath, [program, "partition-tables", ...words], {
    env: { ...process.env, ...environment.variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  createInterface(child.stderr).on("line", (line) => {
    lines.push(line);
    if (isLongTrial) process.stdout.write(`${new Date().toISOString()} ${line}\n`);
    if (isKilledAt(line)) child.kill("SIGKILL");
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { exitCode, lines, output, errors: lines.join("\n") };
}

/** Returns a filter that accepts the n-th line that contains a text. */
function nth(text: string, count = 1): (line: string) => boolean {
  let seen = 0;
  return (line) => line.includes(text) && ++seen === count;
}

/** Pushes a till as the service does, and records what must be stored once the push is committed. */
async function pushTill(locationId: string, tillId: string, orderIds: string[]): Promise<void> {
  const marker = randomUUID();
  const revision = Math.floor(performance.timeOrigin + performance.now() - 1.7e12) % 2_000_000_000;
  const now = new Date().toISOString();
  await db.transaction(async (tx) => {
    await acquireTransactionAdvisoryLock(tx, db, `location ${locationId}`);
    const pushed = {
      ...{ tillId, locationId, revision, pushedAt: now, reason: "push" as const, version: "V2" as const },
      object: { key: marker, hash: marker },
      timeZone: "Europe/Paris",
    };
    await recordTillRevisionAndGetPrevious(tx, pushed);
    if (orderIds.length === 0) return deleteReportAndOrdersOfTill(tx, pushed);
    const report = {
      ...{
        id: tillId,
        reportVersion: 1,
        reportNumber: 1,
        totalSales: 1,
        accountingDataJson: "{}",
        tillFiguresJson: null,
        metrics: computeTillMetrics([], computeTestTillReport([]).reportV2, { timeZone: "Europe/Paris" }),
        finalizedAt: now,
      },
      ...{
        day: "2026-03-01",
        startedAt: now,
        v2: `"${marker}"`,
        v0: `{"marker":"${marker}"}`,
        listItem: `"${marker}"`,
      },
      orders: orderIds.map((id) => {
        const body = `{"marker":"${marker}"}`;
        return { id, day: "2026-03-02", openedAt: now, v1: body, v2: body };
      }),
    };
    // Both forms of V2 responses are copied.
    const options = { calculatedAt: now, creationTimes: new Map<string, string>(), isCompressed: revision % 2 === 0 };
    await replaceStoredReportAndOrders(tx, pushed, toStoredReportAndOrders(report, options));
  });
  if (orderIds.length === 0) expectedTills.delete(tillId);
  else expectedTills.set(tillId, { locationId, marker, orderIds });
}

/** No till is packed in these tests. */
const getStoredRange = () => Promise.reject(new Error("No object is read."));

/** Pushes, replaces, removes and reads tills of some locations until `signal` is aborted. Returns the durations. */
async function sendTraffic(locations: string[], signal: AbortSignal): Promise<number[]> {
  const durations: number[] = [];
  const newOrderIds = () => Array.from({ length: 20 }, () => randomUUID());
  for (let number = 0; !signal.aborted; number += 1) {
    const locationId = locations[number % locations.length] as string;
    const [tillId = randomUUID(), till] =
      [...expectedTills].find(([, expected]) => expected.locationId === locationId) ?? [];
    const filter = { locationId, kind: "order", since: null, until: null, reportId: null, tillId: null } as const;
    const page = { after: null, offset: 50, limit: 20, body: "v1", maxBytes: 1e6 };
    const operations = [
      () => pushTill(locationId, randomUUID(), newOrderIds()),
      () => findReportOrOrderListPage({ sql: db.sql, objects: { getStoredRange } }, filter, page),
      () => pushTill(locationId, tillId, [...(till?.orderIds.slice(5) ?? []), ...newOrderIds().slice(15)]),
      // The till also contains orders of another till, so its copies of these orders become the current ones.
      () => pushTill(locationId, randomUUID(), [...newOrderIds().slice(10), ...(till?.orderIds.slice(0, 3) ?? [])]),
      () => pushTill(locationId, tillId, []),
    ];
    const startedMs = performance.now();
    await operations[Math.floor(Math.random() * operations.length)]?.();
    durations.push(performance.now() - startedMs);
  }
  return durations;
}

/** Keeps a table locked for reading most of the time, as long reports of an operator would. */
async function readSlowly(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await db.transaction(async (tx) => {
      await tx`select count(*) from orders where location_id = ${locationIds[0] as string}`;
      await tx`select pg_sleep(0.8)`;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Upserts a report with the statement and the privileges of version 1.0, and expects the same row in the copy. Repeats it
 * after a deadlock, as version 1.0 handles an event again.
 */
async function upsertReportOfPreviousVersion(sql: postgres.Sql): Promise<void> {
  try {
    await tryUpsertReportOfPreviousVersion(sql);
  } catch (error) {
    if ((error as { code?: string }).code !== "40P01") throw error;
    await upsertReportOfPreviousVersion(sql);
  }
}

async function tryUpsertReportOfPreviousVersion(sql: postgres.Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local search_path = ${tx(db.schema)}`;
    await tx`set local role ${tx(role)}`;
    const [report] = await tx`
      insert into reports
        (id, till_id, location_id, day, started_at, created_at, updated_at, etag, finalized, v2, v0, list_item)
      select id, till_id, location_id, day, started_at, created_at, updated_at, 'previous', finalized, v2, v0, list_item
      from reports limit 1
      on conflict (id) do update set etag = excluded.etag returning id`;
    const copies = await tx`select etag from reports_partitioned where id = ${report?.id}`;
    expect([...copies]).toEqual([{ etag: "previous" }]);
  });
}

async function expectTables(): Promise<void> {
  const orders = await db.sql<{ tillId: string; locationId: string; marker: string; orderIds: string[] }[]>`
    select till_id, location_id, min(v1) as marker, array_agg(id order by id) as order_ids from orders group by 1, 2`;
  const stored = new Map(orders.map((till) => [till.tillId, till]));
  expect([...stored.keys()].sort()).toEqual([...expectedTills.keys()].sort());
  for (const [tillId, { locationId, marker, orderIds }] of expectedTills) {
    expect(stored.get(tillId)).toMatchObject({ locationId, orderIds: [...orderIds].sort() });
    expect(stored.get(tillId)?.marker).toContain(marker);
  }
  const reports = await db.sql<{ tillId: string; v2: string }[]>`select till_id, v2 from reports`;
  expect(reports).toHaveLength(expectedTills.size);
  for (const { tillId, v2 } of reports) expect(v2).toBe(`"${expectedTills.get(tillId)?.marker}"`);
  expect(
    await db.sql`
      select location_id, id from orders group by 1, 2 having count(*) filter (where is_current) <> 1`,
  ).toEqual([]);
  expect(
    await db.sql`
      select * from (select location_id, 'order' as kind, day, count(*) from orders where is_current group by 1, 3
        union all select location_id, 'report', day, count(*) from reports group by 1, 3) as counted
      full join (select * from day_counts where count > 0) as stored using (location_id, kind, day)
      where counted.count is distinct from stored.count`,
  ).toEqual([]);
}

/** Expects figures for the reports that have been stored by this version since, and no others. */
async function expectMetrics(): Promise<void> {
  const [counts] = await db.sql<[{ reports: number; figures: number; wrong: number }]>`
    select count(*) filter (where metrics_etag = etag) as reports, count(metric_totals.sales) as figures,
      count(*) filter (where (metrics_etag is not distinct from etag) <> (metric_totals.sales is not null)) as wrong
    from reports full join metric_totals using (location_id, day, till_id)
    full join metric_cells using (location_id, day, till_id)`;
  expect(counts.reports).toBeGreaterThan(0);
  expect(counts).toEqual({ reports: counts.reports, figures: counts.reports, wrong: 0 });
  const triggers = await db.sql`
    select from pg_trigger where tgrelid = 'reports'::regclass and tgname like 'delete_metrics_of_%'`;
  expect(triggers).toHaveLength(2);
}

const findTableKinds = () =>
  db.sql<{ name: string; kind: string }[]>`
    select relname as name, relkind as kind from pg_class
    where relnamespace = current_schema()::regnamespace and relname = any('{tills,reports,orders,day_counts}')
    order by 1`;

const timeout = isLongTrial ? 3_600_000 : 300_000;

it("partitions tables under load, and continues after it is killed at any step", { timeout }, async () => {
  expect(new Set((await findTableKinds()).map(({ kind }) => kind))).toEqual(new Set(["r"]));
  const ending = new AbortController();
  const workers = [0, 1, 2].map((worker) =>
    sendTraffic(
      locationIds.filter((_, index) => index % 3 === worker),
      ending.signal,
    ),
  );
  const traffic = Promise.all([...workers, readSlowly(ending.signal)]);
  // Fails the test at once when an operation fails.
  const failure = traffic.then(() => {});

  async function runSteps(): Promise<void> {
    const kills = [
      nth("mirroring"),
      nth("tills copying"),
      nth("tills copied"),
      nth("orders copying", 3),
      nth("orders copying", 6),
      nth("orders copied"),
      nth("reports verifying"),
      nth("orders verified"),
      nth("replacing"),
    ];
    // npm test kills it once in each stage, and the soak at all of these lines. Each of the later runs compares all rows
    // again, so a long trial is killed only while it copies.
    const shortKills = kills.filter((_, index) => [0, 3, 6, 8].includes(index));
    const longKills = isLongTrial ? kills.slice(0, 5) : kills;
    for (const isKilledAt of orderCount > defaultOrderCount ? longKills : shortKills) {
      const killed = await runCommand(["reporting"], isKilledAt);
      expect(killed.exitCode, killed.errors).toBeNull();
    }
    // A process of the previous version prevents the replacement, but not the copy.
    const previousProcess = postgres(environment.variables.DATABASE_URL ?? "", {
      max: 1,
      connection: { application_name: `${db.schema} 0123abcd` },
    });
    await upsertReportOfPreviousVersion(previousProcess);
    const refused = await runCommand(["reporting"]);
    expect(refused.errors).toContain("Processes of version 1.0 are connected");
    expect(refused.exitCode).toBe(1);
    await previousProcess.end();
    expect(new Set((await findTableKinds()).map(({ kind }) => kind))).toEqual(new Set(["r"]));

    const completed = await runCommand(["reporting"]);
    expect(completed.exitCode, completed.errors).toBe(0);
    expect(JSON.parse(completed.output)).toEqual({ reporting: expect.arrayContaining(["tills", "orders"]) });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  await Promise.race([runSteps(), failure]);
  ending.abort();
  const durations = (await Promise.all(workers)).flat();
  await traffic;

  expect(new Set((await findTableKinds()).map(({ kind }) => kind))).toEqual(new Set(["p"]));
  expect(durations.length).toBeGreaterThan(500);
  const longestMs = durations.reduce((longest, duration) => Math.max(longest, duration), 0);
  if (isLongTrial) process.stdout.write(`${durations.length} operations, the longest in ${longestMs} ms\n`);
  expect(longestMs).toBeLessThan(maxWaitMs);
  await expectTables();
  await expectMetrics();
  expect(await runCommand(["reporting"])).toMatchObject({ exitCode: 0, output: '{\n  "reporting": []\n}\n' });
  const dropped = await runCommand(["reporting", "--drop-old"]);
  expect(JSON.parse(dropped.output).reporting).toEqual([
    "day_counts_unpartitioned",
    "orders_unpartitioned",
    "reports_unpartitioned",
    "tills_unpartitioned",
  ]);
  await expectTables();
});
