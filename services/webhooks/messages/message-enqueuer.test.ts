import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhooksServiceConfigSchema } from "../config.ts";
import { claimDueWebhookDeliveries } from "../queries/claims.ts";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import {
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "../testing/start-test-webhooks.ts";
import { createWebhookMessageEnqueuer, type WebhookMessageEnqueuer } from "./message-enqueuer.ts";

let service: TestWebhooksService;
let subscription: TestWebhookWithSecret;
let messageEnqueuer: WebhookMessageEnqueuer;
const polledWebhookIds: string[][] = [];

beforeAll(async () => {
  service = await startTestWebhooksService();
  subscription = await service.createSubscription("http://127.0.0.1:1024/", {
    events: ["order.paid", "report.finalized"],
  });
  const poll = (webhookIds: Iterable<string>) => void polledWebhookIds.push([...webhookIds]);
  const scheduler = { poll, reserve: () => undefined };
  messageEnqueuer = createWebhookMessageEnqueuer({
    db: service.db,
    clock: () => new Date(),
    scheduler,
    config: webhooksServiceConfigSchema.parse(service.environment.variables),
  });
});
afterAll(() => service?.remove());

const testMessage = (messageId: string) => ({
  messageId,
  event: "test" as const,
  time: new Date().toISOString(),
  sequence: null,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  data: { locationId: subscription.locationId, webhookId: subscription.webhook.id, message: "“It works”, \\ \u0001" },
});
const enqueue = (webhookIds: string[], message: ReturnType<typeof testMessage>) =>
  messageEnqueuer.enqueueMessage({ webhookIds, isErased: false }, message);
const readMessageBody = async (id: string) => {
  const [row] = await service.db.sql<{ body: string }[]>`select body from webhook_messages where id = ${id}`;
  return row && JSON.parse(row.body);
};

describe("concurrent events", () => {
  it("each find the webhooks that subscribe to them, and whether their orders were erased", async () => {
    const { locationId, webhook } = subscription;
    const [erasedOrderId, otherOrderId] = [randomUUID(), randomUUID()];
    await service.db.sql`insert into erased_orders ${service.db.sql({ locationId, orderId: erasedOrderId })}`;
    const subscribers = await Promise.all([
      messageEnqueuer.findSubscribers({ locationId, event: "order.paid", orderId: otherOrderId }),
      messageEnqueuer.findSubscribers({ locationId, event: "order.paid", orderId: erasedOrderId }),
      messageEnqueuer.findSubscribers({ locationId, event: "order.call", orderId: otherOrderId }),
      messageEnqueuer.findSubscribers({ locationId: randomUUID(), event: "order.paid", orderId: erasedOrderId }),
      messageEnqueuer.findSubscribers({ locationId, event: "report.finalized", orderId: null }),
    ]);
    const webhookIds = [webhook.id];
    expect(subscribers).toEqual([
      { webhookIds, isErased: false },
      { webhookIds, isErased: true },
      { webhookIds: [], isErased: false },
      { webhookIds: [], isErased: false },
      { webhookIds, isErased: false },
    ]);
  });

  it("are each stored once and unchanged, and the scheduler polls once", async () => {
    const webhookIds = [subscription.webhook.id, randomUUID()];
    const ids = Array.from({ length: 20 }, () => randomUUID());
    polledWebhookIds.length = 0;
    expect(await Promise.all(ids.map((id) => enqueue(webhookIds, testMessage(id))))).toEqual(ids.map(() => true));
    expect(await readMessageBody(ids[7] ?? "")).toMatchObject({
      meta: { id: ids[7], event: "test" },
      data: testMessage("").data,
    });
    expect(polledWebhookIds).toHaveLength(1);
    // Each message has only one delivery, because no webhook has the second of the two webhook ids.
    expect(await service.db.sql`select 1 from webhook_deliveries where message_id = any(${ids}::uuid[])`).toHaveLength(
      20,
    );

    expect(await Promise.all(ids.map((id) => enqueue(webhookIds, testMessage(id))))).toEqual(ids.map(() => false));
    expect(polledWebhookIds).toHaveLength(1);
  });

  it("are claimed together for several webhooks, earliest first, with their bodies, and without test messages", async () => {
    const { webhook, principal, recipientId } = subscription;
    const other = await service.createSubscription("http://127.0.0.1:1025/", {
      principal,
      recipientId,
      events: ["order.call"],
    });
    const webhookIds = [webhook.id, other.webhook.id];
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const firstDueMs = Date.now() - 60_000;
    for (const [index, id] of ids.entries()) {
      await enqueue(webhookIds, testMessage(id));
      await service.db.sql`
        update webhook_deliveries set event = 'order.call', due_at = ${new Date(firstDueMs + index)} where message_id = ${id}`;
    }
    // Only the loop that limits the test messages of each location may claim a test message.
    const testMessageId = randomUUID();
    await enqueue(webhookIds, testMessage(testMessageId));
    await service.db
      .sql`update webhook_deliveries set due_at = ${new Date(firstDueMs)} where message_id = ${testMessageId}`;
    const claimRequests = webhookIds.map((webhookId) => ({
      locationId: subscription.locationId,
      webhookId,
      max: ids.length + 1,
    }));
    const leaseExpiresAt = new Date(Date.now() + 30_000);
    const claims = await claimDueWebhookDeliveries(service.db.sql, claimRequests, {
      now: new Date(firstDueMs + 1_000),
      expiresAt: leaseExpiresAt,
    });
    for (const webhookId of webhookIds) {
      const webhookClaims = claims.filter((claim) => claim.webhookId === webhookId);
      expect(webhookClaims.map(({ messageId }) => messageId)).toEqual(ids);
      for (const { body, ...claim } of webhookClaims) {
        expect(JSON.parse(Buffer.from(body).toString())).toEqual(await readMessageBody(claim.messageId));
        expect(claim).toMatchObject({ leaseExpiresAt, generation: 1, attempt: 1, revision: 1, event: "order.call" });
      }
    }
  });

  it("are stored, except an event that fails", async () => {
    const validWebhookIds = [subscription.webhook.id];
    const invalidWebhookIds = ["not a UUID"];
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    polledWebhookIds.length = 0;
    const results = await Promise.allSettled([
      enqueue(validWebhookIds, testMessage(ids[0])),
      enqueue(invalidWebhookIds, testMessage(ids[1])),
      enqueue(validWebhookIds, testMessage(ids[2])),
    ]);
    expect(results).toMatchObject([{ value: true }, { status: "rejected" }, { value: true }]);
    expect(await readMessageBody(ids[2])).toBeDefined();
    expect(await readMessageBody(ids[1])).toBeUndefined();
    expect(polledWebhookIds.flat()).toEqual([subscription.webhook.id, subscription.webhook.id]);
  });
});

it("handles an event once although it arrives twice", async () => {
  const event = buildTestOrderEventData(subscription.locationId);
  const id = await service.publishEvent("order.paid", event);
  await service.publishEvent("order.paid", event, id);
  await service.waitForDelivery(subscription, id, "pending");
  const { sql } = service.db;
  expect(await sql`select 1 from inbox where event_id = ${id}`).toHaveLength(1);
  expect(await sql`select 1 from webhook_deliveries where message_id = ${id}`).toHaveLength(1);
});
