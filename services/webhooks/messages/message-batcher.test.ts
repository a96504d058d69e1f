import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhooksConfig } from "../config.ts";
import { claimDueDeliveries } from "../queries/claims.ts";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhookSubscription, type TestWebhooks } from "../testing/start-test-webhooks.ts";
import { createMessageBatcher, type MessageBatcher } from "./message-batcher.ts";

let service: TestWebhooks;
let subscription: TestWebhookSubscription;
let messageBatcher: MessageBatcher;
const polledWebhookIds: string[][] = [];

beforeAll(async () => {
  service = await startTestWebhooks();
  subscription = await service.createSubscription("http://127.0.0.1:1024/", {
    events: ["order.paid", "report.finalized"],
  });
  const poll = (webhookIds: Iterable<string>) => void polledWebhookIds.push([...webhookIds]);
  const scheduler = { poll, reserve: () => undefined };
  messageBatcher = createMessageBatcher({
    db: service.db,
    clock: () => new Date(),
    scheduler,
    config: webhooksConfig.parse(service.environment.variables),
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
const readMessageBody = async (id: string) => {
  const [row] = await service.db.sql<{ body: string }[]>`select body from messages where id = ${id}`;
  return row && JSON.parse(row.body);
};

describe("events that come together", () => {
  it("find who listens to each", async () => {
    const { locationId, webhook } = subscription;
    const found = await Promise.all([
      messageBatcher.findSubscribedWebhookIds({ locationId, event: "order.paid" }),
      messageBatcher.findSubscribedWebhookIds({ locationId, event: "order.call" }),
      messageBatcher.findSubscribedWebhookIds({ locationId: randomUUID(), event: "order.paid" }),
      messageBatcher.findSubscribedWebhookIds({ locationId, event: "report.finalized" }),
    ]);
    expect(found).toEqual([[webhook.id], [], [], [webhook.id]]);
  });

  it("are told once each, as they are, and the scheduler is woken once", async () => {
    const webhookIds = [subscription.webhook.id, randomUUID()];
    const ids = Array.from({ length: 20 }, () => randomUUID());
    polledWebhookIds.length = 0;
    expect(await Promise.all(ids.map((id) => messageBatcher.enqueueMessage(webhookIds, testMessage(id))))).toEqual(
      ids.map(() => true),
    );
    expect(await readMessageBody(ids[7] ?? "")).toMatchObject({
      meta: { id: ids[7], event: "test" },
      data: testMessage("").data,
    });
    expect(polledWebhookIds).toHaveLength(1);
    // There is no other webhook of that id, and nothing is left for it.
    expect(await service.db.sql`select 1 from deliveries where message_id = any(${ids}::uuid[])`).toHaveLength(20);

    expect(await Promise.all(ids.map((id) => messageBatcher.enqueueMessage(webhookIds, testMessage(id))))).toEqual(
      ids.map(() => false),
    );
    expect(polledWebhookIds).toHaveLength(1);
  });

  it("are claimed together for several webhooks, the earliest first, each with what is sent of it", async () => {
    const { webhook, principal, recipientId } = subscription;
    const other = await service.createSubscription("http://127.0.0.1:1025/", {
      principal,
      recipientId,
      events: ["order.call"],
    });
    const webhookIds = [webhook.id, other.webhook.id];
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const since = Date.now() - 60_000;
    for (const [index, id] of ids.entries()) {
      await messageBatcher.enqueueMessage(webhookIds, testMessage(id));
      await service.db.sql`update deliveries set due_at = ${new Date(since + index)} where message_id = ${id}`;
    }
    const pulls = webhookIds.map((webhookId) => ({ webhookId, max: ids.length }));
    const lapsesAt = new Date(Date.now() + 30_000);
    const claimed = await claimDueDeliveries(service.db.sql, pulls, {
      now: new Date(since + 1_000),
      expiresAt: lapsesAt,
    });
    for (const webhookId of webhookIds) {
      const own = claimed.filter((claim) => claim.webhookId === webhookId);
      expect(own.map(({ messageId }) => messageId)).toEqual(ids);
      for (const { body, ...claim } of own) {
        expect(JSON.parse(Buffer.from(body).toString())).toEqual(await readMessageBody(claim.messageId));
        expect(claim).toMatchObject({ lapsesAt, generation: 1, attempt: 1, revision: 1, event: "test" });
      }
    }
  });

  it("are told though one of them cannot be", async () => {
    const good = [subscription.webhook.id];
    const bad = ["no id"];
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    polledWebhookIds.length = 0;
    const told = await Promise.allSettled([
      messageBatcher.enqueueMessage(good, testMessage(ids[0])),
      messageBatcher.enqueueMessage(bad, testMessage(ids[1])),
      messageBatcher.enqueueMessage(good, testMessage(ids[2])),
    ]);
    expect(told).toMatchObject([{ value: true }, { status: "rejected" }, { value: true }]);
    expect(await readMessageBody(ids[2])).toBeDefined();
    expect(await readMessageBody(ids[1])).toBeUndefined();
    expect(polledWebhookIds.flat()).toEqual([subscription.webhook.id, subscription.webhook.id]);
  });
});

it("handles an event once that comes twice", async () => {
  const event = createOrderEventData(subscription.locationId);
  const id = await service.publishEvent("order.paid", event);
  await service.publishEvent("order.paid", event, id);
  await service.waitForDelivery(subscription, id, "pending");
  const { sql } = service.db;
  expect(await sql`select 1 from inbox where event_id = ${id}`).toHaveLength(1);
  expect(await sql`select 1 from deliveries where message_id = ${id}`).toHaveLength(1);
});
