import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { webhooksConfig } from "./config.ts";
import { type MessageBatcher, openMessageBatcher } from "./message-batcher.ts";
import { claimDue } from "./queries/claims.ts";
import { orderEvent } from "./testing/event-sender.ts";
import { type Subscription, startWebhooks, type TestWebhooks } from "./testing/start-webhooks.ts";

let service: TestWebhooks;
let subscription: Subscription;
let messages: MessageBatcher;
const woken: string[][] = [];

beforeAll(async () => {
  service = await startWebhooks();
  subscription = await service.subscribe("http://127.0.0.1:1024/", { events: ["order.paid", "report.finalized"] });
  const wake = (webhookIds: Iterable<string>) => void woken.push([...webhookIds]);
  const scheduler = { wake, reserve: () => undefined };
  messages = openMessageBatcher({
    db: service.db,
    clock: () => new Date(),
    scheduler,
    config: webhooksConfig.parse(service.environment.variables),
  });
});
afterAll(() => service?.remove());

const test = (messageId: string) => ({
  messageId,
  event: "test" as const,
  time: new Date().toISOString(),
  sequence: null,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  data: { locationId: subscription.locationId, webhookId: subscription.webhook.id, message: "“It works”, \\ \u0001" },
});
const bodyOf = async (id: string) => {
  const [row] = await service.db.sql<{ body: string }[]>`select body from messages where id = ${id}`;
  return row && JSON.parse(row.body);
};

describe("events that come together", () => {
  it("find who listens to each", async () => {
    const { locationId, webhook } = subscription;
    const found = await Promise.all([
      messages.findListeners({ locationId, event: "order.paid" }),
      messages.findListeners({ locationId, event: "order.call" }),
      messages.findListeners({ locationId: randomUUID(), event: "order.paid" }),
      messages.findListeners({ locationId, event: "report.finalized" }),
    ]);
    expect(found).toEqual([[webhook.id], [], [], [webhook.id]]);
  });

  it("are told once each, as they are, and the scheduler is woken once", async () => {
    const webhookIds = [subscription.webhook.id, randomUUID()];
    const ids = Array.from({ length: 20 }, () => randomUUID());
    woken.length = 0;
    expect(await Promise.all(ids.map((id) => messages.send(webhookIds, test(id))))).toEqual(ids.map(() => true));
    expect(await bodyOf(ids[7] ?? "")).toMatchObject({ meta: { id: ids[7], event: "test" }, data: test("").data });
    expect(woken).toHaveLength(1);
    // There is no other webhook of that id, and nothing is left for it.
    expect(await service.db.sql`select 1 from deliveries where message_id = any(${ids}::uuid[])`).toHaveLength(20);

    expect(await Promise.all(ids.map((id) => messages.send(webhookIds, test(id))))).toEqual(ids.map(() => false));
    expect(woken).toHaveLength(1);
  });

  it("are claimed together for several webhooks, the earliest first, each with what is sent of it", async () => {
    const { webhook, principal, recipientId } = subscription;
    const other = await service.subscribe("http://127.0.0.1:1025/", { principal, recipientId, events: ["order.call"] });
    const webhookIds = [webhook.id, other.webhook.id];
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const since = Date.now() - 60_000;
    for (const [index, id] of ids.entries()) {
      await messages.send(webhookIds, test(id));
      await service.db.sql`update deliveries set due_at = ${new Date(since + index)} where message_id = ${id}`;
    }
    const pulls = webhookIds.map((webhookId) => ({ webhookId, max: ids.length }));
    const lapsesAt = new Date(Date.now() + 30_000);
    const claimed = await claimDue(service.db.sql, pulls, { now: new Date(since + 1_000), lapsesAt });
    for (const webhookId of webhookIds) {
      const own = claimed.filter((claim) => claim.webhookId === webhookId);
      expect(own.map(({ messageId }) => messageId)).toEqual(ids);
      for (const { body, ...claim } of own) {
        expect(JSON.parse(Buffer.from(body).toString())).toEqual(await bodyOf(claim.messageId));
        expect(claim).toMatchObject({ lapsesAt, generation: 1, attempt: 1, revision: 1, event: "test" });
      }
    }
  });

  it("are told though one of them cannot be", async () => {
    const good = [subscription.webhook.id];
    const bad = ["no id"];
    const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
    woken.length = 0;
    const told = await Promise.allSettled([
      messages.send(good, test(ids[0])),
      messages.send(bad, test(ids[1])),
      messages.send(good, test(ids[2])),
    ]);
    expect(told).toMatchObject([{ value: true }, { status: "rejected" }, { value: true }]);
    expect(await bodyOf(ids[2])).toBeDefined();
    expect(await bodyOf(ids[1])).toBeUndefined();
    expect(woken.flat()).toEqual([subscription.webhook.id, subscription.webhook.id]);
  });
});

it("handles an event once that comes twice", async () => {
  const event = orderEvent(subscription.locationId);
  const id = await service.tell("order.paid", event);
  await service.tell("order.paid", event, id);
  await service.delivery(subscription, id, "pending");
  const { sql } = service.db;
  expect(await sql`select 1 from inbox where event_id = ${id}`).toHaveLength(1);
  expect(await sql`select 1 from deliveries where message_id = ${id}`).toHaveLength(1);
});
