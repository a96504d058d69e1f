import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServiceName } from "@pragma/contracts/service-names";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { type GeneratedTill, generateTill } from "@pragma/simulator/generate-till";
import {
  startTestWebhookReceiver,
  type TestWebhookReceiver,
  type TestWebhookReceiverEndpoint,
} from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ExtractedRelease,
  extractRelease,
  isReleaseAvailable,
  version10,
} from "../deploy/local/testing/released-version.js";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { convertGeneratedTillToV1 } from "./harness/convert-till-to-v1.ts";
import { type PragmaUnderTest, type PragmaUnderTestAccess, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { createTestPaidLiveOrder } from "./webhooks/send-paid-live-orders.ts";

const adminKey = `admin-key-of-a-test-${randomUUID()}`;
const rounds = Number(process.env.UPGRADE_ROUNDS ?? 3);
const uncompressed = { COMPRESS_TILL_BODIES: "false", COMPRESS_V2_ORDERS: "false" };

/** A till, with the exact body that was pushed last. */
interface PushedTill {
  id: string;
  body: string;
  /** The orders that can be read: none of V1 tills, whose orders get other ids, and none in training mode. */
  orderIds: string[];
}

let environment: IsolatedTestEnvironment;
let extracted: ExtractedRelease;
let previous: PragmaUnderTest;
let current: PragmaUnderTest | undefined;
let location: TestLocation;
let configId: string;
let receiver: TestWebhookReceiver;
let endpoint: TestWebhookReceiverEndpoint;
let orderEndpoint: TestWebhookReceiverEndpoint;
let recipientId: string;
let webhookId: string;
let sql: postgres.Sql;
const tills: PushedTill[] = [];
const paidOrderIds: string[] = [];
const exportIds: string[] = [];

const isAvailable = await isReleaseAvailable(version10);

beforeAll(async () => {
  if (!isAvailable) return;
  environment = await createIsolatedTestEnvironment({ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" });
  extracted = await extractRelease(version10);
  const { nodeArguments } = extracted;
  previous = await startPragmaUnderTest(environment.variables, { adminKey, nodeArguments });
  location = await createTestLocation(previous, {
    scopes: [
      "tills:write",
      "tills:read",
      "reports:read",
      "orders:read",
      "accounting:write",
      "webhooks:write",
      "orders:write",
    ],
  });
  receiver = await startTestWebhookReceiver();
  endpoint = receiver.addEndpoint();
  recipientId = (await location.create("/v1/recipients/", { name: "Stock" })).id;
  const events = ["report.finalized"];
  webhookId = (await location.create("/v1/webhooks/", { recipientId, endpointUrl: endpoint.url, events })).id;
  orderEndpoint = receiver.addEndpoint();
  const orderWebhook = { recipientId, endpointUrl: orderEndpoint.url, events: ["order.paid"] };
  await location.create("/v1/webhooks/", orderWebhook);
  configId = (await location.create("/v1/accounting/configs", {})).id;
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
}, 180_000);
afterAll(async () => {
  await sql?.end();
  await current?.stop();
  await previous?.process("all").kill();
  await receiver?.close();
  await environment?.remove();
  await extracted?.remove();
}, 60_000);

/**
 * Sends a request to an installation. Repeats it after a 503, as clients do: once for each connection of version 1.0, a
 * migration invalidates statements that are already prepared.
 */
async function send(product: PragmaUnderTestAccess, method: string, path: string, body?: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${product.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${location.key}`, "content-type": "application/json" },
      ...(body !== undefined && { body }),
    });
    if (response.status !== 503 || attempt === 10) return response;
    await response.body?.cancel();
  }
}

async function sendExpecting(status: number, ...parameters: Parameters<typeof send>): Promise<Response> {
  const response = await send(...parameters);
  if (response.status !== status)
    throw new Error(`${parameters[1]} ${parameters[2]} returned ${response.status}: ${await response.text()}`);
  return response;
}

let tillCount = 0;
const buildTill = (id: string) => {
  tillCount += 1;
  const day = `2026-04-${String(1 + (tillCount % 28)).padStart(2, "0")}`;
  return generateTill({ seed: `upgrade ${tillCount}`, tillId: id, orders: 12, day });
};

const listReadableOrderIds = (till: GeneratedTill) =>
  till.orderList.filter((order) => !order.isTraining).map((order) => order.id);

async function pushTill(product: PragmaUnderTestAccess, format: "V1" | "V2"): Promise<void> {
  const till = buildTill(randomUUID());
  const body = JSON.stringify(format === "V1" ? convertGeneratedTillToV1(till, location) : till);
  await sendExpecting(201, product, "POST", `/${format.toLowerCase()}/tills/`, body);
  tills.push({ id: till.id, body, orderIds: format === "V1" ? [] : listReadableOrderIds(till) });
}

async function sendPaidLiveOrder(product: PragmaUnderTestAccess): Promise<void> {
  const order = createTestPaidLiveOrder();
  await sendExpecting(200, product, "POST", "/v1/orders-live/", JSON.stringify([order]));
  paidOrderIds.push(order.id);
}

/** Replaces a till by a revision with other orders. */
async function replaceTill(product: PragmaUnderTestAccess, till: PushedTill): Promise<void> {
  const replacement = buildTill(till.id);
  till.body = JSON.stringify(replacement);
  till.orderIds = listReadableOrderIds(replacement);
  await sendExpecting(200, product, "PUT", `/v1/tills/${till.id}`, till.body);
}

async function exportTills(product: PragmaUnderTestAccess): Promise<void> {
  const items = tills
    .slice(-4)
    .map(({ id }) => ({ tillId: id, accountingConfigId: configId, accountingProvider: "FULLL" }));
  const response = await sendExpecting(202, product, "POST", "/v1/accounting/exports", JSON.stringify(items));
  exportIds.push(((await response.json()) as { id: string }).id);
}

/** Waits until the latest revision of every till has a report, and every export has finished. */
async function waitForResults(product: PragmaUnderTestAccess): Promise<void> {
  const ingest = buildServiceSchemaName(environment.namespace, "till-ingest");
  const requeueTime = sql(current ? "next_requeue_at" : "next_sweep_at");
  await eventually(
    "all tills to be processed",
    async () => (await sql`select 1 from ${sql(ingest)}.tills where ${requeueTime} is not null`).length === 0,
    { timeoutSeconds: 60 },
  );
  for (const id of exportIds)
    await eventually(
      "the export to finish",
      async () => {
        const response = await sendExpecting(200, product, "GET", `/v1/accounting/exports/${id}`);
        return /^(done|failed)$/.test(((await response.json()) as { state: string }).state);
      },
      { timeoutSeconds: 60 },
    );
  await waitForMessages();
}

/**
 * Waits until the endpoints have received a message about the latest revision of every till and about every paid order,
 * and no delivery is due. Each paid order has one message.
 */
async function waitForMessages(): Promise<void> {
  const [ingest, webhooks] = ["till-ingest", "webhooks"].map((service) =>
    buildServiceSchemaName(environment.namespace, service as ServiceName),
  );
  await eventually(
    "all messages to be delivered",
    async () => {
      const received = endpoint.receivedWebhooks.map(({ body }) => JSON.parse(body).data);
      const pushed = await sql<{ id: string; revision: number }[]>`select id, revision from ${sql(ingest ?? "")}.tills`;
      const missing = pushed.filter(
        ({ id, revision }) => !received.some((data) => data.tillId === id && data.revision >= revision),
      );
      const table = sql`${sql(webhooks ?? "")}.${sql(current ? "webhook_deliveries" : "deliveries")}`;
      const due = await sql`select 1 from ${table} where state in ('pending', 'sending')`;
      const missingOrders = paidOrderIds.filter((id) => !listOrderMessages().some((message) => message.data.id === id));
      return missing.length + missingOrders.length + due.length === 0;
    },
    { timeoutSeconds: 60 },
  );
  expect(new Set(listOrderMessages().map(({ meta }) => meta.id)).size).toBe(paidOrderIds.length);
}

const listOrderMessages = (): { meta: { id: string }; data: { id: string } }[] =>
  orderEndpoint.receivedWebhooks.map(({ body }) => JSON.parse(body));

/** Changes the recipient, rotates its secret, sends a test message, and recovers failed deliveries. */
async function useWebhook(product: PragmaUnderTestAccess): Promise<void> {
  const name = `Stock ${tillCount}`;
  await sendExpecting(200, product, "POST", "/v1/recipients/", JSON.stringify({ id: recipientId, name }));
  const isLeaked = { isLeaked: true };
  await sendExpecting(200, product, "POST", `/v1/recipients/${recipientId}/rotate`, JSON.stringify(isLeaked));
  await sendExpecting(202, product, "POST", `/v1/webhooks/${webhookId}/test`);
  const since = { since: "2026-01-01T00:00:00Z" };
  await sendExpecting(202, product, "POST", `/v1/webhooks/${webhookId}/recover`, JSON.stringify(since));
}

/** Returns the responses to all reads, by path. The bodies of tills must be those that were pushed. */
async function readEverything(product: PragmaUnderTestAccess): Promise<Record<string, string>> {
  const responses: Record<string, string> = {};
  const read = async (path: string) => {
    const text = await (await sendExpecting(200, product, "GET", path)).text();
    responses[path] = withoutAddedFields(text.replaceAll(product.url, ""), path);
    return text;
  };
  for (const { id, body, orderIds } of tills) {
    await read(`/v1/tills/${id}`);
    if ((await read(`/v1/tills/${id}/object`)) !== body) throw new Error(`The body of the till ${id} has changed.`);
    for (const orderId of orderIds) {
      await read(`/v1/orders/${orderId}`);
      await read(`/v2/orders/${orderId}`);
    }
  }
  const list = JSON.parse(await read("/v2/reports?size=100")) as { data: { id: string; tillId: string }[] };
  const reportedTills = new Set<string>();
  for (const { id } of list.data) {
    const report = JSON.parse(await read(`/v2/reports/${id}`)) as { tillId: string };
    reportedTills.add(report.tillId);
    await read(`/v1/reports/${id}`);
    await read(`/v1/orders?reportId=${id}&size=100`);
  }
  expect([...reportedTills].sort()).toEqual(tills.map(({ id }) => id).sort());
  await read("/v1/reports?size=100");
  await read("/v1/orders?size=20");
  await read("/v1/recipients?size=100");
  const deliveries = JSON.parse(await read(`/v1/webhooks/${webhookId}/deliveries?size=100`)) as {
    data: { id: string }[];
  };
  for (const { id } of deliveries.data) await read(`/v1/webhooks/deliveries/${id}`);
  for (const id of exportIds) {
    const { files } = JSON.parse(await read(`/v1/accounting/exports/${id}`)) as { files: { number: number }[] };
    expect(files).toHaveLength(1);
    await read(`/v1/accounting/exports/${id}/files/1`);
  }
  return responses;
}

/** Returns a response without the fields that version 1.0 does not have. */
function withoutAddedFields(text: string, path: string): string {
  if (/^\/v1\/tills\/[^/]+$/.test(path)) {
    const { reportId: _, reportUrl: __, reportState: ___, reportParkedReason: ____, ...till } = JSON.parse(text);
    return JSON.stringify(till);
  }
  if (!path.includes("?")) return text;
  const { nextPageToken, ...page } = JSON.parse(text) as { nextPageToken: string | null; data: { tillId?: string }[] };
  if (path.includes("/reports?")) page.data = page.data.map(({ tillId: _, ...report }) => report);
  if (nextPageToken === null) return JSON.stringify(page);
  const { filters: _, ...position } = JSON.parse(Buffer.from(nextPageToken, "base64url").toString());
  return JSON.stringify({ ...page, position });
}

/**
 * Reads a till and its orders through all `products`, until `stop` is called, which returns the number of reads. The
 * responses must not change.
 */
function readRepeatedly(products: PragmaUnderTestAccess[], till: PushedTill, responses: Record<string, string>) {
  let isStopped = false;
  let readCount = 0;
  const paths = Object.keys(responses).filter((path) => [till.id, ...till.orderIds].some((id) => path.includes(id)));
  const loop = async () => {
    while (!isStopped) {
      for (const path of paths.filter((path) => !path.includes("reportId="))) {
        for (const product of products) {
          const text = await (await sendExpecting(200, product, "GET", path)).text();
          const comparable = withoutAddedFields(text.replaceAll(product.url, ""), path);
          expect({ path, text: comparable }).toEqual({ path, text: responses[path] });
          readCount += 1;
        }
      }
    }
    return readCount;
  };
  const reads = loop();
  // A failure is reported by `stop`.
  reads.catch(() => {});
  return {
    stop: () => {
      isStopped = true;
      return reads;
    },
  };
}

/** Returns the numbers of compressed and uncompressed bodies of tills and V2 responses of orders. */
async function countForms() {
  const ingest = sql(buildServiceSchemaName(environment.namespace, "till-ingest"));
  const reporting = sql(buildServiceSchemaName(environment.namespace, "reporting"));
  const [bodies] = await sql`
    select count(*) filter (where object_key like '%.br')::int as compressed, count(*)::int as total from ${ingest}.tills`;
  const [orders] = await sql`
    select count(v2_deflated)::int as compressed, count(*)::int as total from ${reporting}.orders`;
  return { bodies, orders };
}

describe.skipIf(!isAvailable)("an upgrade from version 1.0", () => {
  it("reads and writes the same tills, reports, orders and exports with both versions", async () => {
    for (const format of ["V1", "V2", "V2"] as const) await pushTill(previous, format);
    await sendPaidLiveOrder(previous);
    await waitForResults(previous);
    await exportTills(previous);
    await waitForResults(previous);
    const before = await readEverything(previous);
    const products = [previous];
    const reader = readRepeatedly(products, tills[1] as PushedTill, before);

    const next = await startPragmaUnderTest({ ...environment.variables, ...uncompressed }, { adminKey });
    current = next;
    products.push(next);
    for (const product of [next, previous]) expect(await readEverything(product)).toEqual(before);

    for (let round = 0; round < rounds; round += 1) {
      const [one, other] = round % 2 === 0 ? [previous, next] : [next, previous];
      await Promise.all([pushTill(one, "V2"), pushTill(other, "V2"), pushTill(one, "V1"), pushTill(other, "V1")]);
      await Promise.all([sendPaidLiveOrder(one), sendPaidLiveOrder(other)]);
      await waitForResults(one);
      // Each version changes tills that the other has stored.
      const ofOneVersion = tills.slice(-4).filter(({ orderIds }) => orderIds.length > 0);
      await Promise.all(ofOneVersion.map((till, index) => replaceTill(index === 0 ? other : one, till)));
      await waitForResults(other);
      for (const [product, { id }] of [
        [one, tills[0]],
        [other, tills.at(-1)],
      ] as [PragmaUnderTest, PushedTill][])
        await sendExpecting(200, product, "POST", `/v1/tills/${id}/reprocess`);
      await waitForResults(other);
      await Promise.all([exportTills(one), exportTills(other), useWebhook(one), useWebhook(other)]);
      await waitForResults(one);
      expect(await readEverything(previous)).toEqual(await readEverything(next));
    }
    expect(await reader.stop()).toBeGreaterThan(500);
    expect(await countForms()).toMatchObject({ bodies: { compressed: 0 }, orders: { compressed: 0 } });
    await expectDatabaseConsistency(environment);
  }, 240_000);

  it("rolls back to version 1.0 and upgrades again, without losing or repeating an event", async () => {
    await (current as PragmaUnderTest).stop();
    await previous.stop();
    previous = await startPragmaUnderTest(environment.variables, { adminKey, nodeArguments: extracted.nodeArguments });
    await pushTill(previous, "V2");
    await sendPaidLiveOrder(previous);
    await waitForResults(previous);
    await sendPaidLiveOrder(previous);
    current = await startPragmaUnderTest({ ...environment.variables, ...uncompressed }, { adminKey });
    await sendPaidLiveOrder(current);
    await waitForResults(current);
  }, 120_000);

  it("reads everything after version 1.0 has stopped, while and after the stored data is compressed", async () => {
    await previous.stop();
    const before = await readEverything(current as PragmaUnderTest);
    await (current as PragmaUnderTest).stop();
    const next = await startPragmaUnderTest(environment.variables, { adminKey });
    current = next;
    expect(await readEverything(next)).toEqual(before);
    await pushTill(next, "V2");
    await replaceTill(next, tills[1] as PushedTill);
    await waitForResults(next);
    await exportTills(next);
    await waitForResults(next);
    const { orders } = await countForms();
    // Those of the tills that were pushed and replaced since.
    expect(orders?.compressed).toBe([tills[1], tills.at(-1)].flatMap((till) => till?.orderIds).length);
    const compressing = await readEverything(next);
    await eventually(
      "the bodies to be compressed",
      async () => (await countForms()).bodies?.compressed === tills.length,
      { timeoutSeconds: 60 },
    );
    expect(await readEverything(next)).toEqual(compressing);

    const folder = findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions"));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(folder, "dist", "commands", "ops.js"), "partition-tables"],
      { env: { PATH: process.env.PATH, ...environment.variables } },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      reporting: expect.arrayContaining(["orders", "reports"]),
      webhooks: expect.arrayContaining(["attempts", "webhook_deliveries", "webhook_messages"]),
    });
    expect(await readEverything(next)).toEqual(compressing);
    await pushTill(next, "V1");
    await useWebhook(next);
    await waitForResults(next);
    await readEverything(next);
    await expectDatabaseConsistency(environment);
  }, 240_000);
});
