import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSigningSecret } from "../messages/signing-secret.ts";
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

  it("is signed with the key of the recipient's own secret", async () => {
    const endpoint = receiver.addEndpoint();
    const { principal, recipientId, locationId } = await service.createSubscription(endpoint.url);
    const hmacSecret = `whsec_${randomBytes(24).toString("base64")}`;
    const rotate = () =>
      service.sendJson(
        {
          method: "POST",
          path: `/v1/recipients/${recipientId}/rotate`,
          principal,
          body: { hmacSecret, isLeaked: true },
        },
        { status: 200, schema: WebhookRecipientWithSecret },
      );
    expect(await rotate()).toMatchObject({ hmacSecret: null, signingSecret: hmacSecret });
    await service.publishEvent("order.paid", buildTestOrderEventData(locationId));
    const { headers, body } = await eventually("the message", () => endpoint.receivedWebhooks[0]);
    new StandardWebhook(hmacSecret).verify(body, headers as Record<string, string>);
    const key = Buffer.from(hmacSecret.slice("whsec_".length), "base64");
    expect(headers["x-popina-hmac-signature"]).toBe(createHmac("sha256", key).update(body).digest("hex"));
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

describe("a report that was computed again", () => {
  it("is sent as report.finalized as before, and as report.replaced with an id of its own", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url, {
      events: ["report.finalized", "report.replaced"],
    });
    const data: BusEventData<"report.finalized"> = {
      ...{ locationId: subscription.locationId, reportId: randomUUID(), tillId: randomUUID(), revision: 1 },
      ...{ reportVersion: 1, reportNumber: 1, totalSales: 100, orderIds: [randomUUID()] },
      ...{ startedAt: "2026-05-29T08:00:00.000Z", finalizedAt: "2026-05-29T20:00:00.000Z" },
    };
    const firstId = await service.publishEvent("report.finalized", data);
    await service.waitForDelivery(subscription, firstId, "succeeded");
    const secondId = await service.publishEvent("report.finalized", { ...data, revision: 2, isErased: true });
    await eventually("all messages", () => endpoint.receivedWebhooks.length === 3);
    const messages = endpoint.receivedWebhooks.map(({ headers, body }) => ({ headers, body: JSON.parse(body) }));
    const find = (event: string, revision: number) =>
      messages.filter(({ body }) => body.meta.event === event && body.meta.sequence === revision);
    expect(find("report.finalized", 1).map(({ body }) => body.data)).toEqual([data]);
    expect(find("report.finalized", 2).map(({ headers }) => headers["webhook-id"])).toEqual([secondId]);
    const [replaced] = find("report.replaced", 2);
    expect(replaced?.body).toMatchObject({ meta: { id: replaced?.headers["webhook-id"] } });
    expect(replaced?.body.data).toEqual({ ...data, revision: 2 });
    expect([firstId, secondId]).not.toContain(replaced?.headers["webhook-id"]);
  });
});
