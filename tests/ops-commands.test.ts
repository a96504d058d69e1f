import { randomUUID } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { redactPersonalData } from "@pragma/contracts/personal-data";
import { createDatabasePool } from "@pragma/runtime/database/postgres";
import { createLogger } from "@pragma/runtime/observability/logger";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createOpsPortClient, runOpsCommand } from "@pragma/services/commands/operator-commands";
import { generateTill } from "@pragma/simulator/generate-till";
import { startTestWebhookReceiver } from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestLiveOrderInput } from "./contract/order-and-till-inputs.ts";
import { backdateTestTills } from "./harness/backdate-tills.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ OPS_TOKEN: randomUUID() });
  product = await startPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(product, {
    scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "orders:write", "webhooks:write"],
  });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const failures: string[] = [];
const ops = (...words: string[]) =>
  runOpsCommand(words, createOpsPortClient([product.process("all").opsUrl], environment.variables.OPS_TOKEN), {
    log: () => {},
    reportFailure: (message) => failures.push(message),
  });

const createGuestFields = (name: string) => ({
  customerInfo: { firstName: name },
  deliveryAddress: { street: `${name} street` },
  firebaseCustomerName: name,
});

/** Returns the database columns and stored objects that contain a name, except those of sent events. */
async function findOccurrences(name: string): Promise<string[]> {
  const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  const columns = await sql<{ schema: string; name: string; column: string }[]>`
    select table_schema as schema, table_name as name, column_name as column from information_schema.columns
    where starts_with(table_schema, ${`${environment.namespace}_`}) and data_type in ('text', 'jsonb')
      and table_name not like 'sent_events%'`;
  const occurrences: string[] = [];
  for (const { schema, name: table, column } of columns) {
    const [row] = await sql`
      select count(*)::int as count from ${sql(schema)}.${sql(table)} where ${sql(column)}::text like ${`%${name}%`}`;
    if (row?.count > 0) occurrences.push(`${schema}.${table}.${column}`);
  }
  await sql.end();
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name), "utf8")).includes(name)) {
      occurrences.push(entry.name);
    }
  }
  return occurrences;
}

async function pushTill(names: string[], day = "2026-04-01") {
  const till = generateTill({ seed: 1, tillId: randomUUID(), orders: names.length, day });
  // Training mode is removed, because the API does not list orders in training mode, and some generated orders have it.
  const orderList = till.orderList.map((order, index) => ({
    ...order,
    ...createGuestFields(names[index] ?? ""),
    isTraining: false,
  }));
  const body = { ...till, orderList };
  expect((await testLocation.request("POST", "/v2/tills/", { body })).status).toBe(201);
  const orders = await eventually("the orders", async () => {
    const { data } = await testLocation.getJson<{ data: { id: string; reportId: string }[] }>("/v1/orders/?size=100");
    const occurrences = data.filter(({ id }) => till.orderList.some((order) => order.id === id));
    return occurrences.length === names.length && occurrences;
  });
  return { body, orderIds: till.orderList.map(({ id }) => id), reportId: orders[0]?.reportId ?? "" };
}

/** Returns a report without its update time and personal data, so that a redaction does not change the result. */
async function readReportFigures(reportId: string) {
  const { updatedAt, ...figures } = await testLocation.getJson<{ updatedAt?: string }>(`/v2/reports/${reportId}`);
  return redactPersonalData(figures);
}

describe("an erasure of personal data", () => {
  it("erases an order's data everywhere, and keeps the figures and the data of other orders", async () => {
    const [ada, bob] = [`Ada${randomUUID().slice(0, 8)}`, `Bob${randomUUID().slice(0, 8)}`];
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint();
    const { data: recipient } = await testLocation.api.POST("/v1/recipients", { body: { name: "Erased" } });
    const webhook = { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid" as const] };
    await testLocation.api.POST("/v1/webhooks", { body: webhook });
    const live = createTestLiveOrderInput();
    const paid = { ...live, data: { ...live.data, ...createGuestFields(ada), isPaid: true } };
    expect((await testLocation.request("POST", "/v1/orders-live/", { body: [paid] })).status).toBe(200);
    await eventually("the message", () => endpoint.receivedWebhooks.length === 1);
    const { body, orderIds, reportId } = await pushTill([ada, bob]);
    const before = await readReportFigures(reportId);
    // V2 orders are compressed, so that a search of the tables does not find it there.
    expect((await findOccurrences(ada)).length).toBeGreaterThan(3);

    const orders = [orderIds[0], live.id].join(",");
    expect(await ops("erase", "--location", testLocation.locationId, "--orders", orders)).toEqual({
      ...{ tills: 1, orderIdsWithoutTill: [live.id] },
    });
    await eventually("the erasure", async () => (await findOccurrences(ada)).length === 0);

    expect(await readReportFigures(reportId)).toEqual(before);
    expect((await testLocation.request("GET", `/v1/tills/${body.id}/object`)).status).toBe(200);
    const erased = await testLocation.getJson<object>(`/v2/orders/${orderIds[0]}`);
    expect(erased).toMatchObject({ customerInfo: null, deliveryAddress: null, total: body.orderList[0]?.total });
    expect(JSON.stringify(await testLocation.getJson(`/v2/orders/${orderIds[1]}`))).toContain(bob);
    expect((await testLocation.request("GET", `/v1/orders-live/${live.id}`)).status).toBe(200);
    await receiver.close();
    expect((await testLocation.request("POST", "/v2/tills/", { body })).status).toBe(200);
    expect(await findOccurrences(ada)).toEqual([]);
  }, 60_000);

  it("erases the data of all tills before a day", async () => {
    const name = `Cleo${randomUUID().slice(0, 8)}`;
    const { reportId } = await pushTill([name, name, name]);
    const before = await readReportFigures(reportId);
    await backdateTestTills(environment, testLocation.locationId);
    const today = new Date().toISOString().slice(0, 10);
    expect(await ops("erase", "--location", testLocation.locationId, "--before", today)).toMatchObject({
      tills: expect.any(Number),
    });
    await eventually("the erasure", async () => (await findOccurrences(name)).length === 0);
    expect(await readReportFigures(reportId)).toEqual(before);
    expect(await ops("erase", "--location", testLocation.locationId, "--before", today)).toEqual({ tills: 0 });
  }, 60_000);
});

describe("operators", () => {
  it("list the events in flight of all services, with when their handlers were called", async () => {
    const till = generateTill({ seed: 2, tillId: randomUUID(), orders: 1, day: "2026-04-02" });
    const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
    try {
      await sql.begin(async (tx) => {
        // The handler of reporting waits for this lock.
        await tx`lock table ${tx(buildServiceSchemaName(environment.namespace, "reporting"))}.inbox in exclusive mode`;
        expect((await testLocation.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
        const inFlight = {
          ...{ service: "reporting", event: "till.pushed", subject: till.id, locationId: testLocation.locationId },
          ...{ eventId: expect.any(String), deliveries: 1 },
          ...{
            receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
            handlerStartedAt: expect.stringMatching(/^\d{4}-.*Z$/),
          },
        };
        await eventually("the event", async () => {
          expect(await ops("events", "in-flight")).toContainEqual(inFlight);
          return true;
        });
      });
      await eventually("the event to be handled", async () => {
        expect(await ops("events", "in-flight")).toEqual([]);
        return true;
      });
    } finally {
      await sql.end();
    }
  });

  it("list tills without a result, and requeue them", async () => {
    const { body } = await pushTill(["", ""]);
    const db = createDatabasePool(
      { DATABASE_URL: environment.variables.DATABASE_URL ?? "", DATABASE_POOL: 2 },
      {
        schema: buildServiceSchemaName(environment.namespace, "till-ingest"),
        log: createLogger({ name: "test", level: "silent" }),
      },
    );
    const isFinished = async () =>
      (await db.sql`select 1 from tills where id = ${body.id} and next_requeue_at is null`).length > 0;
    await eventually("the till's result", isFinished);
    await db.sql`
      update tills set next_requeue_at = now() + interval '1 hour', result_revision = 0 where id = ${body.id}`;
    await db.sql`update till_versions set created_at = now() - interval '1 hour' where till_id = ${body.id}`;

    expect(await ops("tills", "unfinished")).toMatchObject([{ tillId: body.id, locationId: testLocation.locationId }]);
    expect(await ops("tills", "retry", body.id)).toEqual({ [body.id]: [{ tillId: body.id, isRequeued: true }] });
    expect(await db.sql`select requeue_count from tills where id = ${body.id}`).toEqual([{ requeueCount: 1 }]);
    // Changes the till to the state after the arrival of its result, in which no requeue is due.
    await db.sql`update tills set next_requeue_at = null where id = ${body.id}`;
    expect(await ops("tills", "unfinished")).toEqual([]);
    expect(failures).toEqual([]);
    expect(await ops("tills", "retry", body.id)).toEqual({ [body.id]: [{ tillId: body.id, isRequeued: false }] });
    const unknown = randomUUID();
    expect(await ops("dead-letters", "retry", unknown)).toEqual({ [unknown]: [] });
    expect(await ops("tills", "reprocess", unknown)).toMatchObject({ [unknown]: [{ isReprocessed: false }] });
    expect(failures.splice(0)).toEqual([
      expect.stringContaining(`${body.id}: it has a result already`),
      expect.stringContaining(`${unknown}: it is not a dead letter`),
      expect.stringContaining(`${unknown}: it is not a till`),
    ]);
    await db.close();
  });

  it("learn what to correct when a command reaches no process or has no valid day", async () => {
    const output = { log: () => {}, reportFailure: () => {} };
    const list = (url: string, token: string) =>
      runOpsCommand(["dead-letters", "list"], createOpsPortClient([url], token), output);
    await expect(list("http://127.0.0.1:1", "")).rejects.toThrow(/127.0.0.1:1 .*Set OPS_URLS/);
    await expect(list(product.process("all").opsUrl, "other")).rejects.toThrow("Set OPS_TOKEN");
    await expect(ops("erase", "--location", randomUUID(), "--before", "01-04-2026")).rejects.toThrow("2026-04-01");
    await expect(ops("erase", "--location", randomUUID(), "--before", "9999-12-31")).rejects.toThrow("to 20");
  });

  it("find packed tills whose objects are missing, reprocess them, and erase their personal data", async () => {
    const name = `Carl${randomUUID().slice(0, 8)}`;
    const [repaired, erased] = [await pushTill([name], "2020-04-01"), await pushTill([name], "2020-04-01")];
    const tills = [repaired, erased];
    const tillIds = tills.map(({ body }) => body.id).sort();
    const readReports = () => Promise.all(tills.map(({ reportId }) => readReportFigures(reportId)));
    const before = await readReports();
    for (const tillId of tillIds) await packTestTill(environment, tillId);
    const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
    await rm(join(folder, "packed", testLocation.locationId), { recursive: true });
    const orderPath = (till: typeof repaired) => `/v2/orders/${till.orderIds[0]}`;
    expect((await testLocation.request("GET", orderPath(repaired))).status).toBe(503);

    const check = async () => {
      const { unreadable } = (await ops("packed-tills", "check")) as { unreadable: { tillId: string }[] };
      return unreadable.map(({ tillId }) => tillId).sort();
    };
    expect(await check()).toEqual(tillIds);
    const { id } = repaired.body;
    expect(await ops("tills", "reprocess", id)).toEqual({ [id]: [{ tillId: id, isReprocessed: true, revision: 2 }] });
    expect(
      await ops("erase", "--location", testLocation.locationId, "--orders", erased.orderIds.join(",")),
    ).toMatchObject({ tills: 1 });
    await eventually("the orders to be read", async () =>
      (await Promise.all(tills.map((till) => testLocation.request("GET", orderPath(till))))).every(
        ({ status }) => status === 200,
      ),
    );
    expect(await readReports()).toEqual(before);
    const readCustomer = async (till: typeof repaired) =>
      (await testLocation.getJson<{ customerInfo: unknown }>(orderPath(till))).customerInfo;
    expect([await readCustomer(repaired), await readCustomer(erased)]).toEqual([{ firstName: name }, null]);
    expect(await check()).toEqual([]);
    expect(await ops("dead-letters", "list")).toEqual([]);
    const unknownId = randomUUID();
    expect(await ops("tills", "reprocess", unknownId)).toMatchObject({ [unknownId]: [{ isReprocessed: false }] });
  }, 60_000);

  it.each([["erase"], ["parked", "eat"], ["tills", "retry"], ["tills", "reprocess"], ["--unknown"], []])(
    "get the usage of an invalid command: %s %s",
    async (...words) => {
      await expect(ops(...words)).rejects.toThrow(/needs|Pass|Unknown|No command/);
    },
  );
});
