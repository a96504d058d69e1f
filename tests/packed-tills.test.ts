import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { unpackTill } from "@pragma/reporting/documents/packing/unpack-till";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "@pragma/runtime/config/runtime-config";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { getTestCommandProgram } from "./harness/command-program.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { listDifferences, type RecordedResponses, recordResponses } from "./packed-tills/record-responses.ts";
import { dayBefore, type LocationWithTills, type PushedTill, pushVariedTills } from "./packed-tills/varied-tills.ts";

/** The soak packs hundreds of tills. */
const tillCount = Number(process.env.PACKED_TILLS ?? 12);
/** Whether the product is killed again and again while it packs, and backed up at the same time. */
const isLong = tillCount > 50;
const ordersPerTill = isLong ? 20 : 4;
const hotDays = 100;
const timeoutMs = 120_000 + tillCount * 4_000;

let folder: string;
let servers: OwnTestServers;
/** The installation that packs tills, and the one to which its backup is restored. */
let packing: Installation;
let restored: Installation;
let locations: LocationWithTills[];
let exportIds: Map<string, string>;
let before: RecordedResponses;

interface Installation {
  environment: Pick<IsolatedTestEnvironment, "namespace" | "variables">;
  product: PragmaUnderTest;
  sql: postgres.Sql;
}

async function startInstallation(environment: Installation["environment"], adminKey?: string): Promise<Installation> {
  return {
    environment,
    product: await startPragmaUnderTest(environment.variables, adminKey === undefined ? {} : { adminKey }),
    sql: postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} }),
  };
}

/** Returns the name of a table of reporting. */
const table = ({ environment, sql }: Installation, name: string) =>
  sql`${sql(buildServiceSchemaName(environment.namespace, "reporting"))}.${sql(name)}`;

let environment: IsolatedTestEnvironment;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pragma-packed-"));
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "1000000", HOT_DAYS: `${hotDays}` },
  });
  [servers, packing] = await Promise.all([startOwnTestServers(), startInstallation(environment)]);
  locations = await pushVariedTills(packing.product, { count: tillCount, ordersPerTill, hotDays });
  exportIds = await exportAllTills();
  before = await recordResponses(packing.product, locations, { exportIds });
}, timeoutMs);
afterAll(async () => {
  for (const each of [restored, packing]) {
    await each?.product.stop();
    await each?.sql.end();
  }
  await servers?.stop();
  await environment?.remove();
  await rm(folder, { recursive: true, force: true });
});

const listTills = () => locations.flatMap(({ tills }) => tills);
/** Returns the orders of a till except those in training mode, which are not stored. */
const listReportedOrderIds = ({ body }: PushedTill) =>
  body.orderList.filter(({ isTraining }) => !isTraining).map(({ id }) => id);
const isOld = ({ day, isTraining }: PushedTill) => day < dayBefore(hotDays) && !isTraining;

/** Exports all tills of each location to one file, and returns the ids of the exports by location. */
async function exportAllTills(): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { location, tills } of locations) {
    const { id: accountingConfigId } = await location.create("/v1/accounting/configs", {});
    const { id } = await location.create(
      "/v1/accounting/exports",
      tills
        .filter(({ isTraining }) => !isTraining)
        .slice(0, 50)
        .map((till) => ({ tillId: till.id, accountingConfigId, accountingProvider: "FULLL" })),
    );
    ids.set(location.locationId, id);
    await eventually(
      "the export to be done",
      async () =>
        !["pending", "running"].includes(
          (await location.getJson<{ state: string }>(`/v1/accounting/exports/${id}`)).state,
        ),
      { timeoutSeconds: 60 },
    );
  }
  return ids;
}

async function readExportFiles(ids: Map<string, string>): Promise<string[]> {
  return Promise.all(
    locations.map(async ({ location }) =>
      (await location.request("GET", `/v1/accounting/exports/${ids.get(location.locationId)}/files/1`)).text(),
    ),
  );
}

async function listPackedTillIds(installation: Installation): Promise<string[]> {
  const rows = await installation.sql<{ id: string }[]>`
    select till_id as id from ${table(installation, "packed_tills")}`;
  return rows.map(({ id }) => id);
}

async function expectSameResponses(installation: Installation, expected: RecordedResponses): Promise<void> {
  const actual = await recordResponses(installation.product, locations, { exportIds });
  expect(listDifferences(expected, actual)).toEqual([]);
}

const runBackupCommand = (command: "backup" | "restore", variables: Record<string, string>) =>
  promisify(execFile)(process.execPath, [getTestCommandProgram("backup"), command, join(folder, "backup")], {
    env: { PATH: process.env.PATH, ...variables },
  });

it(
  `${tillCount} tills are packed without a difference in any response`,
  async () => {
    expect([...before.values()].filter(({ status }) => status >= 500)).toEqual([]);
    // Only tills that did not change in the last 24 hours are packed.
    await packing.sql`update ${table(packing, "reports")} set updated_at = updated_at - interval '25 hours'`;
    const old = listTills().filter(isOld);
    const isAllPacked = async () => (await listPackedTillIds(packing)).length >= old.length;
    if (isLong) {
      await eventually("the first tills to be packed", async () => (await listPackedTillIds(packing)).length > 0);
      const backingUp = runBackupCommand("backup", environment.variables);
      while (!(await isAllPacked())) {
        await sleep(randomInt(12_000));
        await packing.product.process("all").kill();
        await packing.product.process("all").start();
      }
      await backingUp;
    } else {
      await eventually("the old tills to be packed", isAllPacked, { timeoutSeconds: 60 });
    }
    expect((await listPackedTillIds(packing)).sort()).toEqual(old.map(({ id }) => id).sort());
    expect(old.length).toBeLessThan(listTills().filter(({ isTraining }) => !isTraining).length);
    await expectSameResponses(packing, before);
    const files = await readExportFiles(exportIds);
    expect(await readExportFiles(await exportAllTills())).toEqual(files);
    await expectDatabaseConsistency(environment);
  },
  timeoutMs,
);

it(
  "a backup of packed tills is restored without a difference in any response",
  async () => {
    const { postgres: database, nats, redis } = servers;
    const variables = {
      ...environment.variables,
      ...{
        DATABASE_URL: database.url,
        NATS_URL: nats.url,
        REDIS_URL: redis.url,
        OBJECT_STORE: `file:${folder}/objects`,
      },
    };
    // The long test restores the backup that was made while tills were packed.
    if (!isLong) await runBackupCommand("backup", environment.variables);
    await runBackupCommand("restore", variables);
    restored = await startInstallation({ ...environment, variables }, packing.product.adminKey);
    expect((await listPackedTillIds(restored)).length).toBeGreaterThan(0);
    await expectSameResponses(restored, before);
  },
  timeoutMs,
);

it(
  "all tills are unpacked without a difference in any response",
  async () => {
    const { variables, namespace } = restored.environment;
    const log = createLogger({ name: "test", level: "silent" });
    const databaseConfig = readConfigFromEnvironment(commonServiceConfigSchema, variables);
    const db = createDatabasePool(databaseConfig, { schema: buildServiceSchemaName(namespace, "reporting"), log });
    const objects = createObjectStore(variables.OBJECT_STORE ?? "");
    // Keeps the tills from being packed again.
    await restored.sql`update ${table(restored, "reports")} set updated_at = now()`;
    // A task that is running can still pack some of them.
    await eventually(
      "all tills to be unpacked",
      async () => {
        for (const { location, tills } of locations)
          for (const till of tills)
            await unpackTill({ db, objects }, { locationId: location.locationId, tillId: till.id });
        await sleep(isLong ? 2_000 : 0);
        return (await listPackedTillIds(restored)).length === 0;
      },
      { timeoutSeconds: 60 },
    );
    await db.close();
    await objects.close();
    await expectSameResponses(restored, before);
  },
  timeoutMs,
);

/** Returns the responses of both installations without versions, after all events have been handled. */
async function recordBoth(): Promise<RecordedResponses[]> {
  for (const each of [packing, restored]) await expectDatabaseConsistency({ ...environment, ...each.environment });
  return Promise.all(
    [packing, restored].map(({ product }) => recordResponses(product, locations, { omitsVersions: true })),
  );
}

/** Waits until both installations have stored the next revision of these tills. */
async function changeInBoth(tills: PushedTill[], change: (installation: Installation) => Promise<void>): Promise<void> {
  const ids = tills.map(({ id }) => id);
  const readRevisions = async (installation: Installation) => {
    const rows = await installation.sql<{ id: string; revision: number }[]>`
      select till_id as id, revision from ${table(installation, "tills")} where till_id = any(${ids})`;
    return new Map(rows.map(({ id, revision }) => [id, revision]));
  };
  for (const installation of [packing, restored]) {
    const previous = await readRevisions(installation);
    await change(installation);
    await eventually(
      "the changed tills to be stored",
      async () => {
        const revisions = await readRevisions(installation);
        return ids.every((id) => (revisions.get(id) ?? 0) > (previous.get(id) ?? 0));
      },
      { timeoutSeconds: 60 },
    );
  }
}

it(
  "personal data is erased in packed tills as in others, and these tills are unpacked",
  async () => {
    // The orders of V1 tills have no personal data here.
    const chosen = listTills().filter(
      (till, index) => isOld(till) && till.format === "V2" && listReportedOrderIds(till).length > 1 && index % 4 !== 3,
    );
    expect(chosen.length).toBeGreaterThan(1);
    const packedBefore = await listPackedTillIds(packing);
    const erased = chosen.map((till) => listReportedOrderIds(till)[1] ?? expect.unreachable());
    await changeInBoth(chosen, async ({ product }) => {
      for (const { location } of locations) {
        const response = await fetch(`${product.process("all").opsUrl}/reporting/erasures`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ locationId: location.locationId, orderIds: erased }),
        });
        expect(response.status, await response.text()).toBe(200);
      }
    });
    const [cold, hot] = await recordBoth();
    expect(listDifferences(hot ?? new Map(), cold ?? new Map())).toEqual([]);
    const packedAfter = await listPackedTillIds(packing);
    expect(chosen.filter(({ id }) => packedAfter.includes(id))).toEqual([]);
    expect(packedAfter.length).toBeLessThan(packedBefore.length);
    for (const { location, tills } of locations)
      for (const till of tills.filter((each) => chosen.includes(each))) {
        const order = await location.getJson<{ firebaseCustomerName: string | null }>(
          `/v2/orders/${listReportedOrderIds(till)[1]}`,
        );
        expect(order.firebaseCustomerName).toBe(null);
        const other = await location.getJson<{ firebaseCustomerName: string | null }>(
          `/v2/orders/${listReportedOrderIds(till)[0]}`,
        );
        expect(other.firebaseCustomerName).not.toBe(null);
      }
  },
  timeoutMs,
);

it(
  "packed tills are replaced and reprocessed as others, and are unpacked",
  async () => {
    const packedBefore = await listPackedTillIds(packing);
    const chosen = listTills().filter(({ id, format }) => packedBefore.includes(id) && format === "V2");
    expect(chosen.length).toBeGreaterThan(1);
    await changeInBoth(chosen, async ({ product }) => {
      for (const { location, tills } of locations)
        for (const [index, { id, body }] of tills.filter((each) => chosen.includes(each)).entries()) {
          const isReplaced = index % 2 === 0;
          const response = await fetch(`${product.url}/v1/tills/${id}${isReplaced ? "" : "/reprocess"}`, {
            method: isReplaced ? "PUT" : "POST",
            headers: { authorization: `Bearer ${location.key}`, "content-type": "application/json" },
            ...(isReplaced && {
              body: JSON.stringify({ ...body, note: "Replaced while packed", orderList: body.orderList.slice(1) }),
            }),
          });
          expect(response.status, await response.text()).toBeLessThan(300);
        }
    });
    const [cold, hot] = await recordBoth();
    expect(listDifferences(hot ?? new Map(), cold ?? new Map())).toEqual([]);
    const packedAfter = await listPackedTillIds(packing);
    expect(chosen.filter(({ id }) => packedAfter.includes(id))).toEqual([]);
  },
  timeoutMs,
);
