import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhookSubscription, type TestWebhooks } from "../testing/start-test-webhooks.ts";

let service: TestWebhooks;
beforeAll(async () => {
  service = await startTestWebhooks();
});
afterAll(() => service?.remove());

const subscribe = () => service.createSubscription("http://127.0.0.1:1024/");

/** Sends a message of an order that names its customer; returns the message's id. */
async function sendOrder({ locationId }: TestWebhookSubscription, id: string): Promise<string> {
  const event = createOrderEventData(locationId, { id });
  event.order.firebaseCustomerName = "Ada";
  const messageId = await service.publishEvent("order.paid", event);
  await eventually("the message", async () => (await customerOf(messageId)) === "Ada");
  return messageId;
}

async function customerOf(messageId: string): Promise<unknown> {
  const [row] = await service.db.sql<{ body: string }[]>`select body from messages where id = ${messageId}`;
  return row && JSON.parse(row.body).data.firebaseCustomerName;
}

async function erase({ locationId }: TestWebhookSubscription, orderIds: string[]): Promise<void> {
  const id = await service.publishEvent("orders.erased", { locationId, tillId: null, orderIds, isWholeTill: false });
  await eventually("the erasure", async () => {
    const [handled] = await service.db.sql`select from inbox where event_id = ${id}`;
    return handled;
  });
}

describe("the personal data of an order", () => {
  it("is erased from its own messages only, and no other message is read", async () => {
    const [mine, other] = [await subscribe(), await subscribe()];
    const orderId = randomUUID();
    const erased = await sendOrder(mine, orderId);
    const kept = [await sendOrder(mine, randomUUID()), await sendOrder(other, orderId)];
    const unread = await sendOrder(mine, randomUUID());
    await service.db.sql`update messages set body = 'whoever reads this fails' where id = ${unread}`;
    await erase(mine, [orderId]);
    expect(await customerOf(erased)).toBeNull();
    expect(await Promise.all(kept.map(customerOf))).toEqual(["Ada", "Ada"]);
  });

  it("is erased from messages that a version before wrote", async () => {
    const mine = await subscribe();
    const orderId = randomUUID();
    const erased = await sendOrder(mine, orderId);
    await service.db.sql`update messages set subject = null where id = ${erased}`;
    await erase(mine, [orderId]);
    expect(await customerOf(erased)).toBeNull();
  });
});
