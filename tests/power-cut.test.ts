import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { buildEventStreamNames } from "@pragma/runtime/messaging/event-streams";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { createTestEventStreamAdmin, type TestEventStreamAdmin } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { copyStreamFiles } from "@pragma/runtime/testing/stream-files";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import {
  startTestWebhookReceiver,
  type TestWebhookReceiver,
  type TestWebhookReceiverEndpoint,
} from "@pragma/webhooks/testing/webhook-receiver";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { sendTestPaidLiveOrders } from "./webhooks/send-paid-live-orders.ts";

let nats: OwnTestServer;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let receiver: TestWebhookReceiver;
let sql: postgres.Sql;
let streams: TestEventStreamAdmin;
let sent: SentData;

beforeAll(async () => {
  nats = await startOwnTestServer("nats");
  environment = await createMigratedTestEnvironment({ NATS_URL: nats.url });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  receiver = await startTestWebhookReceiver();
  product = await startPragmaUnderTest(environment.variables);
  streams = await createTestEventStreamAdmin(environment);
  sent = await startSending();
}, 300_000);
afterAll(async () => {
  await streams?.close();
  await product?.stop();
  await receiver?.close();
  await sql?.end();
  await environment?.remove();
  await nats?.stop();
});

/** What clients have sent, and each of which must have its effect once. */
interface SentData {
  location: TestLocation;
  recipientId: string;
  endpoint: TestWebhookReceiverEndpoint;
  tills: { id: string; day: string }[];
  orderIds: string[];
  webhookIds: string[];
}

async function startSending(): Promise<SentData> {
  const location = await createTestLocation(product, {
    scopes: ["tills:write", "reports:read", "orders:write", "webhooks:write"],
  });
  const endpoint = receiver.addEndpoint();
  const { id: recipientId } = await location.create("/v1/recipients/", { name: "Stock" });
  await location.create("/v1/webhooks/", { recipientId, endpointUrl: endpoint.url, events: ["order.paid"] });
  return { location, recipientId, endpoint, tills: [], orderIds: [], webhookIds: [] };
}

/** Pushes tills of one day, sends paid live orders, and creates a webhook, which the audit log records. */
async function send({ location, recipientId, endpoint, ...sent }: SentData, day: string): Promise<void> {
  const tills = Array.from({ length: 2 }, () => generateTill({ seed: day, tillId: randomUUID(), orders: 3, day }));
  for (const till of tills) await location.pushTillWithRetries(till);
  sent.tills.push(...tills.map(({ id }) => ({ id, day })));
  sent.orderIds.push(...(await sendTestPaidLiveOrders(location, { orders: 5, batchSize: 5, perSecond: 1_000 })));
  const webhook = { recipientId, endpointUrl: endpoint.url, events: ["order.canceled"] };
  sent.webhookIds.push((await location.create("/v1/webhooks/", webhook)).id);
}

const table = (service: string, name: string) => sql`${sql(`${environment.namespace}_${service}`)}.${sql(name)}`;

const waitForEmptyOutboxes = () =>
  eventually("events to be sent", async () => {
    for (const service of ["till_ingest", "order_live", "reporting", "webhooks", "accounts"])
      if ((await sql`select 1 from ${table(service, "outbox")} limit 1`).length > 0) return false;
    return true;
  });

/** Waits until everything has its effect, and expects that nothing has it twice. */
async function expectEffectsOnce({ location, endpoint, tills, orderIds, webhookIds }: SentData): Promise<void> {
  expect(await location.waitForReports(tills.length)).toHaveLength(tills.length);
  const listMessages = () =>
    endpoint.receivedWebhooks.map(({ body }) => JSON.parse(body) as { meta: { id: string }; data: { id: string } });
  // A delivery that was cut off is repeated when its lease ends, after 30 seconds.
  const isReceived = () => {
    const received = new Set(listMessages().map(({ data }) => data.id));
    return orderIds.every((id) => received.has(id));
  };
  await eventually("the messages about all orders", isReceived, { timeoutSeconds: 60 });
  for (const orderId of orderIds) {
    // A message whose delivery was cut off is delivered again, with the same id.
    const ids = new Set(listMessages().flatMap(({ meta, data }) => (data.id === orderId ? [meta.id] : [])));
    expect(ids.size, orderId).toBe(1);
  }
  for (const day of new Set(tills.map((till) => till.day))) {
    const count = tills.filter((till) => till.day === day).length;
    expect(await location.getJson(`/v1/days/${day}`)).toMatchObject({ tillCount: count });
  }
  await eventually("the entries of the audit log", async () => {
    const rows = await sql<{ count: string }[]>`
      select count(*) from ${table("accounts", "audit_events")}
      where target_id = any(${webhookIds}) group by target_id`;
    return rows.length === webhookIds.length && rows.every(({ count }) => count === "1");
  });
  await eventually("the results of all tills", async () => {
    const ids = tills.map(({ id }) => id);
    const done = await sql`
      select 1 from ${table("till_ingest", "tills")} where id = any(${ids}::uuid[]) and result_revision = revision`;
    return done.length === tills.length;
  });
}

/** Kills the product and NATS, changes the files of NATS, and starts both again. */
async function cutPower(changeFiles: () => Promise<void>): Promise<void> {
  await Promise.all([product.process("all").kill(), nats.kill()]);
  await changeFiles();
  await nats.start();
  await product.process("all").start();
}

it.each(["the messages", "all files"] as const)(
  "everything arrives once after a power cut that took back %s of the streams",
  async (files) => {
    const copy = await copyStreamFiles(nats.dataFolder, environment.namespace);
    await send(sent, "2026-04-01");
    await expectEffectsOnce(sent);
    await send(sent, "2026-04-02");
    await waitForEmptyOutboxes();
    await cutPower(files === "all files" ? copy.restoreAll : copy.restoreMessages);
    await send(sent, "2026-04-03");
    await expectEffectsOnce(sent);
    await eventually("all events to be handled", () => streams.isFullyConsumed());
  },
  90_000,
);

it("everything arrives once after a power cut that deleted the streams with what no service had handled", async () => {
  await send(sent, "2026-04-04");
  await waitForEmptyOutboxes();
  await cutPower(async () => {
    const folder = join(nats.dataFolder, "data/jetstream/$G/streams");
    for (const name of Object.values(buildEventStreamNames(environment.namespace)))
      await rm(join(folder, name), { recursive: true });
  });
  await send(sent, "2026-04-05");
  await expectEffectsOnce(sent);
}, 240_000);
