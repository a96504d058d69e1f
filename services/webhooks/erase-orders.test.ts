import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repeatErasuresTask } from "./erase-orders.ts";
import { buildTestOrderEventData } from "./testing/event-publisher.ts";
import {
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "./testing/start-test-webhooks.ts";
import { startTestWebhookReceiver } from "./testing/webhook-receiver.ts";

let service: TestWebhooksService;
beforeAll(async () => {
  service = await startTestWebhooksService();
});
afterAll(() => service?.remove());

const subscribe = () => service.createSubscription("http://127.0.0.1:1024/");

/** Publishes an order event with the name of a customer. Returns the id of the message. */
async function publishOrder({ locationId }: TestWebhookWithSecret, id: string): Promise<string> {
  const event = buildTestOrderEventData(locationId, { id });
  event.order.firebaseCustomerName = "Ada";
  const messageId = await service.publishEvent("order.paid", event);
  await eventually("the message", async () => (await readCustomerName(messageId)) === "Ada");
  return messageId;
}

async function readCustomerName(messageId: string): Promise<unknown> {
  const [row] = await service.db.sql<{ body: string }[]>`select body from webhook_messages where id = ${messageId}`;
  return row && JSON.parse(row.body).data.firebaseCustomerName;
}

async function eraseOrders({ locationId }: TestWebhookWithSecret, orderIds: string[]): Promise<void> {
  const id = await service.publishEvent("orders.erased", { locationId, tillId: null, orderIds, isWholeTill: false });
  await eventually("the erasure", async () => {
    const [inboxEntry] = await service.db.sql`select from inbox where event_id = ${id}`;
    return inboxEntry;
  });
}

describe("the personal data of an order", () => {
  it("is erased from webhook_messages of this order only, without reading other messages", async () => {
    const [subscription, otherSubscription] = [await subscribe(), await subscribe()];
    const orderId = randomUUID();
    const erasedId = await publishOrder(subscription, orderId);
    const unchangedIds = [
      await publishOrder(subscription, randomUUID()),
      await publishOrder(otherSubscription, orderId),
    ];
    const unreadableId = await publishOrder(subscription, randomUUID());
    await service.db.sql`update webhook_messages set body = 'not valid JSON' where id = ${unreadableId}`;
    await eraseOrders(subscription, [orderId]);
    expect(await readCustomerName(erasedId)).toBeNull();
    expect(await Promise.all(unchangedIds.map(readCustomerName))).toEqual(["Ada", "Ada"]);
  });

  it("is erased with the responses and the signatures of the attempts", async () => {
    const subscription = await subscribe();
    const orderId = randomUUID();
    const messageId = await publishOrder(subscription, orderId);
    const countSignatures = async () => {
      const { sql } = service.db;
      const [row] = await sql<{ count: number }[]>`
        select count(signature)::int from attempts a join webhook_deliveries d
          on d.location_id = a.location_id and d.id = a.delivery_id where message_id = ${messageId}`;
      return row?.count;
    };
    await eventually("an attempt", async () => ((await countSignatures()) ?? 0) > 0);
    await eraseOrders(subscription, [orderId]);
    expect(await countSignatures()).toBe(0);
  });

  it("is not brought back by an event that is handled after the erasure", async () => {
    const receiver = await startTestWebhookReceiver();
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { locationId } = subscription;
    const orderId = randomUUID();
    await eraseOrders(subscription, [orderId]);
    const event = buildTestOrderEventData(locationId, { id: orderId });
    event.order.firebaseCustomerName = "Ada";
    const messageId = await service.publishEvent("order.paid", event);
    await eventually("the message", () => endpoint.receivedWebhooks.length === 1);
    expect(await readCustomerName(messageId)).toBeNull();
    expect(endpoint.receivedWebhooks[0]?.body).not.toContain("Ada");

    // Data that this version cannot read becomes a dead letter at once.
    const unreadable = { ...event, sequence: 0 };
    const eventId = await service.publishEvent("order.paid", unreadable);
    const body = await eventually("the dead letter", async () => {
      const [row] = await service.db.sql<{ body: string }[]>`select body from dead_letters where event_id = ${eventId}`;
      return row?.body;
    });
    expect(body).not.toContain("Ada");
    await receiver.close();
  });

  it("is erased again from what was stored while the erasure ran", async () => {
    const subscription = await subscribe();
    const orderId = randomUUID();
    await eraseOrders(subscription, [orderId]);
    const messageId = await service.publishEvent(
      "order.paid",
      buildTestOrderEventData(subscription.locationId, { id: orderId }),
    );
    await eventually("the message", async () => (await readCustomerName(messageId)) === null);
    const { sql } = service.db;
    await sql`
      update webhook_messages set body = jsonb_set(body::jsonb, '{data,firebaseCustomerName}', '"Ada"')::text
      where id = ${messageId}`;
    await repeatErasuresTask.run({ db: service.db });
    expect(await readCustomerName(messageId)).toBe("Ada");
    // The task may not have run for hours.
    await sql`update erased_orders set erased_at = now() - interval '3 hours' where order_id = ${orderId}`;
    await repeatErasuresTask.run({ db: service.db });
    expect(await readCustomerName(messageId)).toBeNull();
    expect(await sql`select from erased_orders where order_id = ${orderId} and repeated_at is not null`).toHaveLength(
      1,
    );
  });
});
