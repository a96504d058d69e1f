import { randomInt, randomUUID } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeReport } from "@pragma/reporting/calculate/compute-report";
import { schemaOf } from "@pragma/runtime/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PrivateServers, startPrivateServers } from "@pragma/runtime/testing/private-servers";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Product, startProduct } from "./harness/product.ts";
import { openShop, type Shop } from "./harness/shop.ts";

let servers: PrivateServers;
let environment: TestEnvironment;
let product: Product;
let shop: Shop;
let sql: postgres.Sql;

beforeAll(async () => {
  servers = await startPrivateServers();
  environment = await createTestEnvironment({ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url });
  product = await startProduct(environment.variables, { split: true });
  shop = await openShop(product);
  sql = postgres(servers.postgres.url, { max: 2, onnotice: () => {} });
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await servers?.stop();
});

const table = (service: string, name: string) => sql`${sql(schemaOf(environment.namespace, service))}.${sql(name)}`;
const tillOf = (seed: number) =>
  generateTill({ seed, tillId: randomUUID(), orders: 12, day: `2026-04-${String(1 + (seed % 28)).padStart(2, "0")}` });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Each till has one report, with the figures that it should have, and nothing waits or is parked anywhere. */
async function expectExactReports(tills: ReturnType<typeof tillOf>[]): Promise<void> {
  for (const till of tills) {
    const expected = computeReport(TillV2.parse(till), { locationId: shop.locationId });
    const report = await eventually(
      `the report of till ${till.id}`,
      async () => {
        const answer = await shop.ask("GET", `/v2/reports/${expected?.id}`);
        return answer.status === 200 && answer.json();
      },
      { withinSeconds: 60 },
    );
    expect(report).toEqual(JSON.parse(JSON.stringify(expected?.reportV2)));
  }
  const reports = await sql`
    select till_id from ${table("reporting", "reports")} where till_id = any(${tills.map(({ id }) => id)}::uuid[])`;
  expect(reports).toHaveLength(tills.length);
  for (const service of ["accounts", "till-ingest", "reporting"]) {
    await eventually(
      `the outbox of ${service} to be empty`,
      async () => (await sql`select 1 from ${table(service, "outbox")}`).length === 0,
    );
    expect(await sql`select reason from ${table(service, "parked_messages")}`).toEqual([]);
  }
  const [counted] = await sql`select sum(count)::int as n from ${table("reporting", "stretches")} where kind = 'order'`;
  const [stored] = await sql`select count(*)::int as n from ${table("reporting", "orders")} where is_current`;
  expect(counted?.n).toBe(stored?.n);
}

describe("while processes are killed", () => {
  it("every till that was answered has exactly one report, with exact figures", async () => {
    const tills = Array.from({ length: 40 }, (_, seed) => tillOf(seed));
    let isOver = false;
    const waiting = [...tills];
    const client = async () => {
      for (let till = waiting.pop(); till; till = waiting.pop()) {
        const answer = await shop.pushUntilAnswered(till);
        expect([200, 201]).toContain(answer.status);
        await pause(randomInt(500, 1_500));
      }
    };
    let kills = 0;
    const killer = async () => {
      for (let turn = 0; !isOver; turn++, kills++) {
        const victim = (["till-ingest", "nats", "reporting"] as const)[turn % 3] ?? "nats";
        await pause(randomInt(200, 900));
        if (victim === "nats") {
          await servers.restart("nats", 300);
        } else {
          await product.process(victim).kill();
          await product.process(victim).start();
        }
      }
    };
    const killing = killer();
    await Promise.all(Array.from({ length: 8 }, client));
    isOver = true;
    await killing;
    // Each of the three at least once.
    expect(kills).toBeGreaterThanOrEqual(3);
    await expectExactReports(tills);
  }, 180_000);
});

describe("a till that was accepted and cannot be processed", () => {
  it("is parked with its reason, holds up nobody, and is processed when it is tried again", async () => {
    const [bad, good] = [tillOf(1001), tillOf(1002)];
    await product.process("reporting").kill();
    const objectsBefore = new Set(await bodies());
    expect((await shop.ask("POST", "/v2/tills/", { body: bad })).status).toBe(201);
    const body =
      (await bodies()).find((path) => !objectsBefore.has(path)) ?? expect.unreachable("the body is in the store");
    await rename(body, `${body}.away`);
    expect((await shop.ask("POST", "/v2/tills/", { body: good })).status).toBe(201);
    await product.process("reporting").start();

    await expectReportOf(good);
    const { opsUrl } = product.process("reporting");
    const parked = await eventually("the message to be parked", async () => {
      const messages = (await (await fetch(`${opsUrl}/parked`)).json()) as {
        event_id: string;
        reason: string;
        body: string;
      }[];
      return messages.find((message) => message.body.includes(bad.id));
    });
    expect(parked.reason).toMatch(/ObjectNotFound/);

    await rename(`${body}.away`, body);
    const retried = await fetch(`${opsUrl}/parked/${parked.event_id}/retry`, { method: "POST" });
    expect(await retried.json()).toEqual([{ subscription: "till.pushed", done: true }]);
    await expectExactReports([bad, good]);
  }, 120_000);
});

async function expectReportOf(till: { id: string }): Promise<void> {
  const expected = computeReport(TillV2.parse(till), { locationId: shop.locationId });
  await eventually(
    `the report of till ${till.id}`,
    async () => (await shop.ask("GET", `/v2/reports/${expected?.id}`)).status === 200,
  );
}

/** Every file of the object store. */
async function bodies(): Promise<string[]> {
  const folder = (environment.variables.OBJECT_STORE ?? "").replace("file:", "");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
