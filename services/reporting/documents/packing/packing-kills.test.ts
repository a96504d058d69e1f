import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type CrashMoment, type CrashSimulation, startCrashSimulation } from "@pragma/runtime/testing/crash-simulation";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readEverything } from "../../testing/read-everything.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "../../testing/till-fixtures.ts";
import { deleteUnusedObjectsTask } from "../periodic/delete-unused-objects.ts";
import { findPackedTill } from "../queries/packed-tills.ts";
import { packTill } from "./pack-till.ts";
import { giveUpPackedTexts, type UnpackingServices, unpackTill } from "./unpack-till.ts";

/** The soak kills at each step for each till, and reads all responses after each death. */
const isLong = process.env.PACKING_KILLS === "all";

const log = createLogger({ name: "test", level: "silent" });
const principal = buildTestPrincipalWithScopes("reports:read", "orders:read");
const locationId = principal.location.id;

/** Two tills with a common order, one of whose copies is not current, and an empty one. */
const commonOrder = buildTestOrder({ openedAt: "2020-03-02T12:00:00.000Z" });
const tills = [3, 2].map((count) => {
  const orders = Array.from({ length: count }, (_, index) =>
    buildTestOrder({
      openedAt: `2020-03-0${1 + (index % 2)}T1${index}:00:00.000Z`,
      deviceName: `Table “${index}” – é`,
    }),
  );
  return buildTestTill([...orders, commonOrder], { startedAt: "2020-03-01T08:00:00.000Z" });
});
tills.push(buildTestTill([], { startedAt: "2020-03-03T08:00:00.000Z" }));
const [till = expect.unreachable()] = tills;

let service: TestReportingService;
let simulation: CrashSimulation;
let expected: Record<string, unknown>;
let expectedEverything: Record<string, unknown>;

beforeAll(async () => {
  // The service itself packs nothing.
  service = await startTestReportingService({ HOT_DAYS: "36500" });
  simulation = await startCrashSimulation(service.environment.variables.DATABASE_URL ?? "");
  for (const each of tills) await service.pushTills([each], locationId);
  expected = await readResponses();
  expectedEverything = await readEverything(service, principal, tills);
});
afterAll(async () => {
  await service?.remove();
  await simulation?.close();
});

/** Returns all responses, or in the short test those from which any lost, doubled or changed order is seen. */
async function readResponses(): Promise<Record<string, unknown>> {
  if (isLong) return readEverything(service, principal, tills);
  const paths = ["/v1/orders/?size=100", "/v1/reports/", "/v2/reports/", `/v2/orders/${commonOrder.id}`];
  for (const { id } of tills) paths.push(`/v2/reports/${computeTillReportId(id)}`);
  const responses: Record<string, unknown> = {};
  for (const path of paths) {
    const response = await service.request("GET", path, { principal });
    responses[path] = { status: response.status, etag: response.headers.get("etag"), body: await response.text() };
  }
  return responses;
}

type SimulatedServices = UnpackingServices & { log: typeof log };
const services = (): SimulatedServices => ({ db: service.db, objects: service.objects, log });

/** Runs `work` as a process of its own that dies at a step. Returns whether it died before `work` was done. */
async function runAndCrash(
  work: (services: SimulatedServices) => Promise<unknown>,
  step: number,
  moment: CrashMoment,
): Promise<boolean> {
  const variables = { ...service.environment.variables, DATABASE_URL: simulation.databaseUrl };
  simulation.crashAt(Number.POSITIVE_INFINITY, moment);
  const databaseConfig = { ...readConfigFromEnvironment(commonServiceConfigSchema, variables), DATABASE_POOL: 1 };
  const db = createDatabasePool(databaseConfig, { schema: service.db.schema, log });
  // Only the steps of `work` are counted.
  await db.sql`select 1`;
  const objects = simulation.wrap(service.objects, ["put", "get", "delete"]);
  simulation.crashAt(step, moment);
  try {
    await work({ ...services(), db, objects });
  } catch (error) {
    if (!simulation.hasCrashed) throw error;
  } finally {
    await db.sql.end({ timeout: 0 });
  }
  return simulation.hasCrashed;
}

/** A process that dies after a step leaves the same as one that dies before the next step, so the short test does one. */
const moments: CrashMoment[] = isLong ? ["before", "after"] : ["after"];

/**
 * Runs `work` and kills it at each step, before the step or after it. After each death, prepares the next run by
 * `recover`, which must succeed. Returns the number of deaths.
 */
async function crashAtEachStep(
  work: (services: SimulatedServices) => Promise<unknown>,
  recover: () => Promise<unknown>,
): Promise<number> {
  let deaths = 0;
  for (const moment of moments) {
    for (let step = 1; await runAndCrash(work, step, moment); step += 1) {
      deaths += 1;
      expect(await readResponses(), `died ${moment} step ${step}`).toEqual(expected);
      await recover();
    }
    await recover();
  }
  return deaths;
}

const keyOf = ({ id: tillId }: { id: string }) => ({ locationId, tillId });

async function isPacked(tillId: string): Promise<boolean> {
  const rows = await service.db.sql`
    select from packed_tills where location_id = ${locationId} and till_id = ${tillId}`;
  return rows.count === 1;
}

/** Expects that the object store contains the objects of the packed tills, and no others. */
async function expectNoUnreferencedObjects(): Promise<void> {
  const rows = await service.db.sql<{ objectKey: string }[]>`select object_key from packed_tills`;
  const folder = `${fileURLToPath(service.environment.variables.OBJECT_STORE ?? "")}/packed/${locationId}`;
  // Without an object, the location has no folder.
  const names = existsSync(folder) ? await readdir(folder) : [];
  expect(names.map((name) => `packed/${locationId}/${name}`).sort()).toEqual(rows.map((row) => row.objectKey).sort());
}

const killedTills = tills.map((each, index) => ({
  name: ["with orders", "with a copy of an order", "without orders"][index],
  each,
}));

it.each(isLong ? killedTills : killedTills.slice(1, 2))(
  "a till $name is packed and unpacked when the process dies at any step, and all responses stay the same",
  async ({ each }) => {
    const packDeaths = await crashAtEachStep(
      (crashing) => packTill(crashing, keyOf(each)),
      async () => {
        // The next run completes the packing, unless the process died after it was done.
        const wasPacked = await isPacked(each.id);
        expect(await packTill(services(), keyOf(each))).toBe(!wasPacked);
        expect(await isPacked(each.id)).toBe(true);
        await unpackTill(services(), keyOf(each));
      },
    );
    await packTill(services(), keyOf(each));
    const unpackDeaths = await crashAtEachStep(
      (crashing) => unpackTill(crashing, keyOf(each)),
      async () => {
        await unpackTill(services(), keyOf(each));
        expect(await isPacked(each.id)).toBe(false);
        expect(await readResponses()).toEqual(expected);
        expect(await packTill(services(), keyOf(each))).toBe(true);
      },
    );
    expect(packDeaths).toBeGreaterThan(30);
    expect(unpackDeaths).toBeGreaterThan(20);
    expect(await readEverything(service, principal, tills)).toEqual(expectedEverything);
  },
  300_000,
);

it("no unreferenced object remains when the task that deletes unused objects dies at any step", async () => {
  const expire = () => service.db.sql`update unused_objects set delete_after = now() - interval '1 second'`;
  await expire();
  const count = async () => (await service.db.sql`select from unused_objects`).count;
  expect(await count()).toBeGreaterThan(50);
  await deleteUnusedObjectsTask.run(services());
  await unpackTill(services(), keyOf(till));
  await packTill(services(), keyOf(till));
  await unpackTill(services(), keyOf(till));
  await expire();
  const deaths = await crashAtEachStep(
    (crashing) => deleteUnusedObjectsTask.run(crashing),
    async () => {
      await unpackTill(services(), keyOf(till));
      expect(await packTill(services(), keyOf(till))).toBe(true);
      await expire();
    },
  );
  expect(deaths).toBeGreaterThan(10);
  await deleteUnusedObjectsTask.run(services());
  expect(await count()).toBe(0);
  await expectNoUnreferencedObjects();
  expect(await readEverything(service, principal, tills)).toEqual(expectedEverything);
}, 240_000);

it("a till whose object is missing is given up completely or not at all when the process dies at any step", async () => {
  const { db, objects } = service;
  await packTill(services(), keyOf(till));
  const found = (await findPackedTill(db.sql, keyOf(till))) ?? expect.unreachable("the till is packed");
  await objects.delete(found.objectKey);
  const count = till.orderList.length;
  let deaths = 0;
  for (const moment of moments) {
    for (let step = 1; await runAndCrash((crashing) => giveUpPackedTexts(crashing, found), step, moment); step += 1) {
      deaths += 1;
      const [orders] = await db.sql`
        select (select count(*) from orders where till_id = ${till.id} and v1 = '') as lost,
          (select sum(cardinality(ids)) from packed_orders where till_id = ${till.id}) as packed`;
      expect([
        { lost: count, packed: null },
        { lost: 0, packed: count },
      ]).toContainEqual(orders);
    }
    await giveUpPackedTexts(services(), found);
  }
  expect(deaths).toBeGreaterThan(10);
  await service.pushTills([till], locationId, { revision: 2 });
  const paths = till.orderList.map(({ id }) => `/v2/orders/${id}`);
  const responses = await Promise.all(paths.map((path) => service.request("GET", path, { principal })));
  expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 200));
}, 240_000);
