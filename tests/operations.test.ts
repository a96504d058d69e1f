import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { withoutPersonalData } from "@pragma/contracts/personal-data";
import { createLogger } from "@pragma/runtime/logger";
import { openDatabase } from "@pragma/runtime/postgres";
import { schemaOf } from "@pragma/runtime/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { opsProcesses, runCommand } from "@pragma/services/operator-commands";
import { generateTill } from "@pragma/simulator/generate-till";
import { startReceiver } from "@pragma/webhooks/testing/receiver";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newLiveOrder } from "./contract/live-order.ts";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop, type Shop } from "./harness/shop.ts";

let environment: TestEnvironment;
let product: Product;
let shop: Shop;

beforeAll(async () => {
  environment = await createTestEnvironment({ OPS_TOKEN: randomUUID() });
  product = await startProduct(environment.variables);
  shop = await openShop(product, {
    scopes: ["tills:write", "tills:read", "reports:read", "orders:read", "orders:write", "webhooks:write"],
  });
}, 60_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const operate = (...words: string[]) =>
  runCommand(words, opsProcesses([product.process("all").opsUrl], environment.variables.OPS_TOKEN));

const guest = (name: string) => ({
  customerInfo: { firstName: name },
  deliveryAddress: { street: `${name} street` },
  firebaseCustomerName: name,
});

/** Where in the databases and among the objects a name is found. */
async function tracesOf(name: string): Promise<string[]> {
  const sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1 });
  const columns = await sql<{ schema: string; name: string; column: string }[]>`
    select table_schema as schema, table_name as name, column_name as column from information_schema.columns
    where starts_with(table_schema, ${`${environment.namespace}_`}) and data_type in ('text', 'jsonb')`;
  const found: string[] = [];
  for (const { schema, name: table, column } of columns) {
    const [row] = await sql`
      select count(*)::int as count from ${sql(schema)}.${sql(table)} where ${sql(column)}::text like ${`%${name}%`}`;
    if (row?.count > 0) found.push(`${schema}.${table}.${column}`);
  }
  await sql.end();
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name), "utf8")).includes(name)) {
      found.push(entry.name);
    }
  }
  return found;
}

async function pushTill(names: string[]) {
  const till = generateTill({ seed: 1, tillId: randomUUID(), orders: names.length, day: "2026-04-01" });
  // A till now and then has an order of a training; each of these is to be found again.
  const orderList = till.orderList.map((order, index) => ({
    ...order,
    ...guest(names[index] ?? ""),
    isTraining: false,
  }));
  const body = { ...till, orderList };
  expect((await shop.ask("POST", "/v2/tills/", { body })).status).toBe(201);
  const orders = await eventually("the orders", async () => {
    const { data } = await shop.read<{ data: { id: string; reportId: string }[] }>("/v1/orders/?size=100");
    const found = data.filter(({ id }) => till.orderList.some((order) => order.id === id));
    return found.length === names.length && found;
  });
  return { body, orderIds: till.orderList.map(({ id }) => id), reportId: orders[0]?.reportId ?? "" };
}

/** The figures of a report: all but when it was made, and who paid in or out. */
async function figuresOf(reportId: string) {
  const { updatedAt, ...figures } = await shop.read<{ updatedAt?: string }>(`/v2/reports/${reportId}`);
  return withoutPersonalData(figures);
}

describe("the personal data of an order", () => {
  it("is erased wherever it is kept, and figures stay; that of other orders does, too", async () => {
    const [ada, bob] = [`Ada${randomUUID().slice(0, 8)}`, `Bob${randomUUID().slice(0, 8)}`];
    const receiver = await startReceiver();
    const endpoint = receiver.endpoint();
    const { data: recipient } = await shop.api.POST("/v1/recipients", { body: { name: "Erased" } });
    const webhook = { recipientId: recipient.id, endpointUrl: endpoint.url, events: ["order.paid" as const] };
    await shop.api.POST("/v1/webhooks", { body: webhook });
    const live = newLiveOrder();
    const paid = { ...live, data: { ...live.data, ...guest(ada), isPaid: true } };
    expect((await shop.ask("POST", "/v1/orders-live/", { body: [paid] })).status).toBe(200);
    await eventually("the message", () => endpoint.received.length === 1);
    const { body, orderIds, reportId } = await pushTill([ada, bob]);
    const before = await figuresOf(reportId);
    expect((await tracesOf(ada)).length).toBeGreaterThan(4);

    const orders = [orderIds[0], live.id].join(",");
    expect(await operate("erase", "--location", shop.locationId, "--orders", orders)).toEqual({ tills: 1 });
    await eventually("everything to be erased", async () => (await tracesOf(ada)).length === 0);

    expect(await figuresOf(reportId)).toEqual(before);
    expect((await shop.ask("GET", `/v1/tills/${body.id}/object`)).status).toBe(200);
    const erased = await shop.read<object>(`/v2/orders/${orderIds[0]}`);
    expect(erased).toMatchObject({ customerInfo: null, deliveryAddress: null, total: body.orderList[0]?.total });
    expect(JSON.stringify(await shop.read(`/v2/orders/${orderIds[1]}`))).toContain(bob);
    expect((await shop.ask("GET", `/v1/orders-live/${live.id}`)).status).toBe(200);
    await receiver.close();
    expect((await shop.ask("POST", "/v2/tills/", { body })).status).toBe(200);
    expect(await tracesOf(ada)).toEqual([]);
  }, 60_000);

  it("is erased of all tills from before a day", async () => {
    const name = `Cleo${randomUUID().slice(0, 8)}`;
    const { reportId } = await pushTill([name, name, name]);
    const before = await figuresOf(reportId);
    const tomorrow = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
    expect(await operate("erase", "--location", shop.locationId, "--before", tomorrow)).toMatchObject({
      tills: expect.any(Number),
    });
    await eventually("everything to be erased", async () => (await tracesOf(name)).length === 0);
    expect(await figuresOf(reportId)).toEqual(before);
    expect(await operate("erase", "--location", shop.locationId, "--before", tomorrow)).toEqual({ tills: 0 });
  }, 60_000);
});

describe("operators", () => {
  it("list tills without a result, and have them announced again", async () => {
    const { body } = await pushTill(["", ""]);
    const db = openDatabase(
      { DATABASE_URL: environment.variables.DATABASE_URL ?? "", DATABASE_POOL: 2 },
      { schema: schemaOf(environment.namespace, "till-ingest"), log: createLogger({ name: "test", level: "silent" }) },
    );
    const isFinished = async () =>
      (await db.sql`select 1 from tills where id = ${body.id} and next_sweep_at is null`).length > 0;
    await eventually("its result", isFinished);
    await db.sql`
      update tills set next_sweep_at = now() + interval '1 hour', result_revision = 0 where id = ${body.id}`;
    await db.sql`update till_versions set created_at = now() - interval '1 hour' where till_id = ${body.id}`;

    expect(await operate("tills", "unfinished")).toMatchObject([{ tillId: body.id, locationId: shop.locationId }]);
    expect(await operate("tills", "retry", body.id)).toEqual({ [body.id]: [{ tillId: body.id, isAnnounced: true }] });
    expect(await db.sql`select sweeps from tills where id = ${body.id}`).toEqual([{ sweeps: 1 }]);
    // As if the result had come.
    await db.sql`update tills set next_sweep_at = null where id = ${body.id}`;
    expect(await operate("tills", "unfinished")).toEqual([]);
    expect(await operate("tills", "retry", body.id)).toEqual({ [body.id]: [{ tillId: body.id, isAnnounced: false }] });
    expect(await operate("parked", "list")).toEqual([]);
    await db.close();
  });

  it.each([["erase"], ["parked", "eat"], ["tills", "retry"], ["--unknown"], []])(
    "are told how to say it: %s %s",
    async (...words) => {
      await expect(operate(...words)).rejects.toThrow(/needs|no command|Name|Unknown|done/);
    },
  );
});
