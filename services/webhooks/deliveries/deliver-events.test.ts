import { createHmac } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSigningSecret } from "../messages/sign-message.ts";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooksService, type TestWebhooksService } from "../testing/start-test-webhooks.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
} from "../testing/webhook-receiver.ts";

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestWebhooksService(), startTestWebhookReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

describe("an order event", () => {
  it("is posted to the location's webhooks that subscribe to it, signed with both schemes", async () => {
    const endpoint = receiver.addEndpoint();
    const otherEndpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url, { apiKey: "Bearer recipient-key" });
    await service.createSubscription(otherEndpoint.url, { ...subscription, events: ["order.canceled"] });
    const event = buildTestOrderEventData(subscription.locationId, { sequence: 3 });
    const id = await service.publishEvent("order.paid", event);

    const message = await eventually("the message", () => endpoint.receivedWebhooks[0]);
    const { headers, body } = message;
    expect(message.method).toBe("POST");
    expect(headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      authorization: "Bearer recipient-key",
      "webhook-id": id,
      "x-popina-webhook-id": id,
      "x-popina-webhook-event": "order.paid",
      "x-popina-hmac-signature": createHmac("sha256", subscription.secret).update(body).digest("hex"),
    });
    const verified = new StandardWebhook(encodeSigningSecret(subscription.secret)).verify(
      body,
      headers as Record<string, string>,
    );
    expect(verified).toMatchObject({
      meta: { id, event: "order.paid", emittedAt: expect.any(String), sequence: 3 },
      data: { id: event.order.id, locationId: subscription.locationId, isPaid: true },
    });
    const delivery = await service.waitForDelivery(subscription, id, "succeeded");
    expect(delivery.attempts).toMatchObject([{ generation: 1, number: 1, status: 204, error: null }]);
    expect(JSON.stringify(delivery.payload)).toBe(body);
    expect(otherEndpoint.receivedWebhooks).toEqual([]);
  });

  it("is retried with the same id until the endpoint responds with a 2xx status", async () => {
    const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(503, { body: "not now" }));
    const subscription = await service.createSubscription(endpoint.url);
    const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    await eventually("the first attempt", () => endpoint.receivedWebhooks.length > 0);
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    const delivery = await service.waitForDelivery(subscription, id, "succeeded");
    expect(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect(delivery.attempts).toMatchObject([
      { number: 1, status: 503, response: "not now", error: "The endpoint responded with status 503." },
      { number: 2, status: 200 },
    ]);
  });
});
