import { createHmac } from "node:crypto";
import { Webhook } from "@pragma/contracts/webhook";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSigningSecret } from "../messages/signing-secret.ts";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import {
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "../testing/start-test-webhooks.ts";
import {
  createFixedStatusResponseHandler,
  startTestWebhookReceiver,
  type TestWebhookReceiver,
  type TestWebhookReceiverEndpoint,
} from "../testing/webhook-receiver.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The clock of the service under test stands still until a test advances it, so that days pass without waiting. */
let nowMs = Date.parse("2026-05-29T10:00:00.000Z");
const clock = () => new Date(nowMs);
const advance = (milliseconds: number) => {
  nowMs += milliseconds;
};

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startTestWebhooksService({ clock, pollSeconds: 0.05 }),
    startTestWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const retryScheduleMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Creates a webhook whose endpoint fails. */
async function createFailingSubscription(): Promise<{
  endpoint: TestWebhookReceiverEndpoint;
  subscription: TestWebhookWithSecret;
}> {
  const endpoint = receiver.addEndpoint(createFixedStatusResponseHandler(500, { body: "broken" }));
  return { endpoint, subscription: await service.createSubscription(endpoint.url) };
}

/**
 * Publishes an order event, and waits until all due deliveries of the webhook have been attempted and recorded,
 * because an attempt that is in progress when the clock advances would count as interrupted. Returns the message id.
 */
async function publishOrder(
  subscription: TestWebhookWithSecret,
  state: "pending" | "succeeded" = "pending",
): Promise<string> {
  const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
  await eventually("all attempts to be logged", async () => {
    const [delivery] = (await service.listDeliveries(subscription)).filter(({ messageId }) => messageId === id);
    if (delivery?.state !== state) return false;
    return (
      (await service.listAttempts(delivery.id)).length > 0 && (await countUnfinishedDeliveries(subscription)) === 0
    );
  });
  return id;
}

/** Returns the number of deliveries that are due or whose attempt is in progress. */
async function countUnfinishedDeliveries({ webhook }: TestWebhookWithSecret): Promise<number> {
  const { count } = await service.db.sql`
    select from webhook_deliveries
    where webhook_id = ${webhook.id} and (state = 'sending' or state = 'pending' and due_at <= ${clock()})`;
  return count;
}

const getWebhook = async ({ webhook, principal }: TestWebhookWithSecret) =>
  (await service.getJson(`/v1/webhooks/${webhook.id}`, Webhook.loose(), principal)) as Webhook;

describe("a delivery that keeps failing", () => {
  it("is attempted ten times over three days, with the delays of the schedule", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const id = await publishOrder(subscription);
    for (const [index, scheduledDelayMs] of retryScheduleMs.entries()) {
      const { attempts } = await service.waitForDelivery(subscription, id, "pending");
      const last = attempts.at(-1);
      expect(last).toMatchObject({ number: index + 1, status: 500, response: "broken" });
      const delayMs = Date.parse(last?.nextAttemptAt ?? "") - clock().getTime();
      expect(delayMs).toBeGreaterThanOrEqual(scheduledDelayMs);
      expect(delayMs).toBeLessThanOrEqual(scheduledDelayMs * 1.1 + 1);
      advance(delayMs + 3 * secondMs);
      await eventually(`attempt ${index + 2}`, () => endpoint.receivedWebhooks.length === index + 2);
    }
    const { attempts } = await service.waitForDelivery(subscription, id, "failed");
    expect(attempts).toHaveLength(10);
    expect(attempts.at(-1)?.nextAttemptAt).toBeNull();
    expect(new Set(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  });

  it("waits as long as the Retry-After of the endpoint requests", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    endpoint.setHandler(createFixedStatusResponseHandler(429, { headers: { "retry-after": "7200" } }));
    const id = await publishOrder(subscription);
    const { nextAttemptAt } = await service.waitForDelivery(subscription, id, "pending");
    const delayMs = Date.parse(nextAttemptAt ?? "") - clock().getTime();
    expect(delayMs).toBeGreaterThanOrEqual(2 * hourMs);
    expect(delayMs).toBeLessThanOrEqual(2.2 * hourMs + 1);
  });
});

describe("an endpoint without a success", () => {
  it("is disabled after five days, and the recipient's other endpoints receive first a warning and then a notice", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const other = receiver.addEndpoint();
    await service.createSubscription(other.url, { ...subscription, events: ["report.finalized"] });
    const receivedBodies = () => other.receivedWebhooks.map(({ body }) => JSON.parse(body));
    await publishOrder(subscription);
    const failingSince = clock().toISOString();
    expect(await getWebhook(subscription)).toMatchObject({ state: "active", failingSince });

    advance(2.4 * dayMs);
    await publishOrder(subscription);
    expect(receivedBodies()).toEqual([]);
    advance(0.2 * dayMs);
    await publishOrder(subscription);
    await eventually("the warning", () => receivedBodies().length === 1);
    expect(receivedBodies()[0]).toMatchObject({
      meta: { event: "endpoint.failing", sequence: null },
      data: {
        webhookId: subscription.webhook.id,
        endpointUrl: endpoint.url,
        failingSince,
        lastError: "The endpoint responded with status 500.",
      },
    });
    advance(2.3 * dayMs);
    await publishOrder(subscription);
    expect(receivedBodies()).toHaveLength(1);
    expect(await getWebhook(subscription)).toMatchObject({ state: "active" });

    // The earlier deliveries become due and fail again, now more than five days after the first failure.
    advance(0.2 * dayMs);
    await eventually("the notice", () => receivedBodies().length === 2);
    expect(receivedBodies()[1]).toMatchObject({
      meta: { event: "endpoint.disabled" },
      data: { webhookId: subscription.webhook.id, reason: "failing", failingSince },
    });
    expect(await getWebhook(subscription)).toMatchObject({ state: "disabled", disabledReason: "failing" });
    expect(endpoint.receivedWebhooks.some(({ headers }) => headers["x-popina-webhook-event"] !== "order.paid")).toBe(
      false,
    );
  });

  it("receives no messages while it is disabled, and all due messages once its webhook is resumed", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    await publishOrder(subscription);
    advance(5.1 * dayMs);
    await eventually("the webhook to be disabled", async () => (await getWebhook(subscription)).state === "disabled");
    const receivedBefore = endpoint.receivedWebhooks.length;
    endpoint.setHandler(createFixedStatusResponseHandler(204));
    const newMessageId = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    await service.waitForDelivery(subscription, newMessageId, "pending");
    advance(dayMs);
    const { principal, webhook } = subscription;
    const resumed = await service.sendJson(
      { method: "POST", path: `/v1/webhooks/${webhook.id}/resume`, principal },
      { status: 200, schema: Webhook },
    );
    expect(resumed).toMatchObject({ state: "active", disabledReason: null, failingSince: null, lastError: null });
    await service.waitForDelivery(subscription, newMessageId, "succeeded");
    const sentIds = () => endpoint.receivedWebhooks.slice(receivedBefore).map(({ headers }) => headers["webhook-id"]);
    expect(sentIds()).toContain(newMessageId);
    await eventually("the earlier message", () => sentIds().length === 2);
  });

  it("is no longer failing after a success, and its days are counted from the next failure", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    await publishOrder(subscription);
    advance(4 * dayMs);
    endpoint.setHandler(createFixedStatusResponseHandler(200));
    await publishOrder(subscription, "succeeded");
    expect(await getWebhook(subscription)).toMatchObject({ failingSince: null, lastError: null });
    endpoint.setHandler(createFixedStatusResponseHandler(500));
    await publishOrder(subscription);
    advance(2 * dayMs);
    await publishOrder(subscription);
    expect(await getWebhook(subscription)).toMatchObject({ state: "active" });
  });

  it("is disabled immediately when it responds with 410", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const other = receiver.addEndpoint();
    await service.createSubscription(other.url, subscription);
    endpoint.setHandler(createFixedStatusResponseHandler(410));
    const id = await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
    const { attempts } = await service.waitForDelivery(subscription, id, "failed");
    expect(attempts).toMatchObject([{ status: 410, nextAttemptAt: null }]);
    expect(await getWebhook(subscription)).toMatchObject({ state: "disabled", disabledReason: "gone" });
    const notice = await eventually("the notice", () =>
      other.receivedWebhooks.find(({ headers }) => headers["x-popina-webhook-event"] === "endpoint.disabled"),
    );
    expect(JSON.parse(notice.body).data).toMatchObject({ reason: "gone", endpointUrl: endpoint.url });
  });
});

describe("the previous secret after a rotation", () => {
  it("signs for another 24 hours, in both schemes", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { recipientId, principal, secret: previous } = subscription;
    const rotated = await service.sendJson(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: {} },
      { status: 200, schema: WebhookRecipientWithSecret },
    );
    const current = rotated.hmacSecret ?? "";
    expect(rotated.signingSecret).toBe(encodeSigningSecret(current));
    const findSigningSecrets = async () => {
      await publishOrder(subscription, "succeeded");
      const { headers, body } = endpoint.receivedWebhooks.at(-1) ?? expect.unreachable();
      const hmac = (secret: string) => createHmac("sha256", secret).update(body).digest("hex");
      const standard = [previous, current].filter((secret) => {
        const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
        return String(signature).includes(
          new StandardWebhook(encodeSigningSecret(secret)).sign(String(id), new Date(Number(timestamp) * 1_000), body),
        );
      });
      return { standard, popina: headers["x-popina-hmac-signature"] === hmac(previous) ? previous : current };
    };
    expect(await findSigningSecrets()).toEqual({ standard: [previous, current], popina: previous });
    advance(23.9 * hourMs);
    expect(await findSigningSecrets()).toEqual({ standard: [previous, current], popina: previous });
    advance(0.2 * hourMs);
    expect(await findSigningSecrets()).toEqual({ standard: [current], popina: current });
  });

  it("stops signing immediately when it is reported as leaked", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { recipientId, principal, secret: previous } = subscription;
    await publishOrder(subscription, "succeeded");
    await service.sendJson(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: { isLeaked: true } },
      { status: 200, schema: WebhookRecipientWithSecret },
    );
    await publishOrder(subscription, "succeeded");
    const { headers, body } = endpoint.receivedWebhooks.at(-1) ?? expect.unreachable();
    expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(1);
    expect(headers["x-popina-hmac-signature"]).not.toBe(createHmac("sha256", previous).update(body).digest("hex"));
  });
});
