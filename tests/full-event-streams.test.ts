import { randomUUID } from "node:crypto";
import { buildEventStreamNames, type EventStreamKind } from "@pragma/runtime/messaging/event-streams";
import { createTestEventStreamAdmin, type TestEventStreamAdmin } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import {
  startTestWebhookReceiver,
  type TestWebhookReceiver,
  type TestWebhookReceiverEndpoint,
} from "@pragma/webhooks/testing/webhook-receiver";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { createTestPaidLiveOrder } from "./webhooks/send-paid-live-orders.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let location: TestLocation;
let receiver: TestWebhookReceiver;
let endpoint: TestWebhookReceiverEndpoint;
let streams: TestEventStreamAdmin;
let names: Record<EventStreamKind, string>;
let reportCount = 0;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    TILL_EVENT_STREAM_MAX_BYTES: "1000000",
    ORDER_EVENT_STREAM_MAX_BYTES: "1000000",
  });
  names = buildEventStreamNames(environment.namespace);
  product = await startPragmaUnderTest(environment.variables);
  location = await createTestLocation(product, {
    scopes: ["tills:write", "reports:read", "orders:write", "webhooks:write"],
  });
  receiver = await startTestWebhookReceiver();
  endpoint = receiver.addEndpoint();
  const { id: recipientId } = await location.create("/v1/recipients/", { name: "Stock" });
  await location.create("/v1/webhooks/", { recipientId, endpointUrl: endpoint.url, events: ["order.paid"] });
  streams = await createTestEventStreamAdmin(environment);
}, 300_000);
afterAll(async () => {
  await streams?.close();
  await product?.stop();
  await receiver?.close();
  await environment?.remove();
});

async function pushTill(): Promise<void> {
  const till = generateTill({ seed: "full streams", tillId: randomUUID(), orders: 3, day: "2026-04-01" });
  expect((await location.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
  reportCount += 1;
}

async function sendPaidLiveOrder(): Promise<string> {
  const order = createTestPaidLiveOrder();
  expect((await location.request("POST", "/v1/orders-live/", { body: [order] })).status).toBe(200);
  return order.id;
}

const countMessages = (orderId: string) =>
  endpoint.receivedWebhooks.filter(({ body }) => JSON.parse(body).data.id === orderId).length;
const waitForMessage = (orderId: string) =>
  eventually("the message about the order", () => countMessages(orderId) > 0, { timeoutSeconds: 20 });
const countReports = async () => (await location.getJson<{ data: unknown[] }>("/v2/reports")).data.length;
const readReadiness = async () => {
  const response = await fetch(`${product.process("all").opsUrl}/ready`);
  const { status, parts } = (await response.json()) as {
    status: string;
    parts: Record<string, Record<string, string>>;
  };
  return { httpStatus: response.status, status, streams: parts["order-live"]?.["event streams"] };
};

it("while the stream of tills is full, accepts tills, delivers order events, and computes the reports later", async () => {
  await streams.fill("tills");
  await pushTill();
  await waitForMessage(await sendPaidLiveOrder());
  expect(await countReports()).toBe(reportCount - 1);
  expect(await readReadiness()).toEqual({
    httpStatus: 200,
    status: "ready",
    streams: expect.stringMatching(new RegExp(`^${names.tills} is (99|100) % full$`)),
  });
  await streams.purge("tills");
  expect(await location.waitForReports(reportCount)).toHaveLength(reportCount);
  expect(await readReadiness()).toEqual({ httpStatus: 200, status: "ready", streams: "ok" });
}, 240_000);

it("while the stream of order events is full, accepts live orders, computes reports, and delivers webhooks later", async () => {
  await streams.fill("orders");
  const orderId = await sendPaidLiveOrder();
  await pushTill();
  expect(await location.waitForReports(reportCount)).toHaveLength(reportCount);
  expect(countMessages(orderId)).toBe(0);
  expect((await readReadiness()).streams).toMatch(new RegExp(`^${names.orders} is (99|100) % full$`));
  await streams.purge("orders");
  await waitForMessage(orderId);
  expect(countMessages(orderId)).toBe(1);
}, 240_000);
