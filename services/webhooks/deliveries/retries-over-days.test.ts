import { createHmac } from "node:crypto";
import { Webhook } from "@pragma/contracts/webhook";
import { WebhookRecipientWithSecret } from "@pragma/contracts/webhook-recipient";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeSigningSecret } from "../messages/sign-message.ts";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhookSubscription, type TestWebhooks } from "../testing/start-test-webhooks.ts";
import {
  type ReceiverEndpoint,
  respondWithStatus,
  startWebhookReceiver,
  type WebhookReceiver,
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

let service: TestWebhooks;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestWebhooks({ clock, pollSeconds: 0.05 }), startWebhookReceiver()]);
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

/** The endpoint of a new webhook, which fails. */
async function createFailingSubscription(): Promise<{
  endpoint: ReceiverEndpoint;
  subscription: TestWebhookSubscription;
}> {
  const endpoint = receiver.addEndpoint(respondWithStatus(500, { body: "broken" }));
  return { endpoint, subscription: await service.createSubscription(endpoint.url) };
}

/**
 * Tells a webhook of an order, and waits until its endpoint was asked about all that is due, and the answers written
 * down: an attempt that was still under way when the days pass would be taken for interrupted.
 */
async function publishOrder(
  subscription: TestWebhookSubscription,
  state: "pending" | "succeeded" = "pending",
): Promise<string> {
  const id = await service.publishEvent("order.paid", createOrderEventData(subscription.locationId));
  await eventually("all attempts to be logged", async () => {
    const [delivery] = (await service.listDeliveries(subscription)).filter(({ messageId }) => messageId === id);
    if (delivery?.state !== state) return false;
    return (
      (await service.listAttempts(delivery.id)).length > 0 && (await countUnfinishedDeliveries(subscription)) === 0
    );
  });
  return id;
}

/** Deliveries that an attempt is under way or due of. */
async function countUnfinishedDeliveries({ webhook }: TestWebhookSubscription): Promise<number> {
  const { count } = await service.db.sql`
    select from deliveries
    where webhook_id = ${webhook.id} and (state = 'sending' or state = 'pending' and due_at <= ${clock()})`;
  return count;
}

const getWebhook = async ({ webhook, principal }: TestWebhookSubscription) =>
  (await service.getJson(`/v1/webhooks/${webhook.id}`, Webhook.loose(), principal)) as Webhook;

describe("a delivery that fails and fails", () => {
  it("is attempted ten times over three days, each as long after the other as the schedule says", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const id = await publishOrder(subscription);
    for (const [index, wait] of retryScheduleMs.entries()) {
      const { attempts } = await service.waitForDelivery(subscription, id, "pending");
      const last = attempts.at(-1);
      expect(last).toMatchObject({ number: index + 1, status: 500, response: "broken" });
      const planned = Date.parse(last?.nextAttemptAt ?? "") - clock().getTime();
      expect(planned).toBeGreaterThanOrEqual(wait);
      expect(planned).toBeLessThanOrEqual(wait * 1.1 + 1);
      advance(planned + 3 * secondMs);
      await eventually(`attempt ${index + 2}`, () => endpoint.receivedWebhooks.length === index + 2);
    }
    const { attempts } = await service.waitForDelivery(subscription, id, "failed");
    expect(attempts).toHaveLength(10);
    expect(attempts.at(-1)?.nextAttemptAt).toBeNull();
    expect(new Set(endpoint.receivedWebhooks.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  });

  it("waits as long as the endpoint asks", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    endpoint.setHandler(respondWithStatus(429, { headers: { "retry-after": "7200" } }));
    const id = await publishOrder(subscription);
    const { nextAttemptAt } = await service.waitForDelivery(subscription, id, "pending");
    const wait = Date.parse(nextAttemptAt ?? "") - clock().getTime();
    expect(wait).toBeGreaterThanOrEqual(2 * hourMs);
    expect(wait).toBeLessThanOrEqual(2.2 * hourMs + 1);
  });
});

describe("an endpoint that has nothing but failures", () => {
  it("is warned of after two and a half days, and disabled after five: the recipient's others are told", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const other = receiver.addEndpoint();
    await service.createSubscription(other.url, { ...subscription, events: ["report.finalized"] });
    const told = () => other.receivedWebhooks.map(({ body }) => JSON.parse(body));
    await publishOrder(subscription);
    const failingSince = clock().toISOString();
    expect(await getWebhook(subscription)).toMatchObject({ state: "active", failingSince });

    advance(2.4 * dayMs);
    await publishOrder(subscription);
    expect(told()).toEqual([]);
    advance(0.2 * dayMs);
    await publishOrder(subscription);
    await eventually("the warning", () => told().length === 1);
    expect(told()[0]).toMatchObject({
      meta: { event: "endpoint.failing", sequence: null },
      data: {
        webhookId: subscription.webhook.id,
        endpointUrl: endpoint.url,
        failingSince,
        lastError: "The endpoint answered 500.",
      },
    });
    advance(2.3 * dayMs);
    await publishOrder(subscription);
    expect(told()).toHaveLength(1);
    expect(await getWebhook(subscription)).toMatchObject({ state: "active" });

    // What has failed before is due again, and fails again.
    advance(0.2 * dayMs);
    await eventually("the notice", () => told().length === 2);
    expect(told()[1]).toMatchObject({
      meta: { event: "endpoint.disabled" },
      data: { webhookId: subscription.webhook.id, reason: "failing", failingSince },
    });
    expect(await getWebhook(subscription)).toMatchObject({ state: "disabled", disabledReason: "failing" });
    expect(endpoint.receivedWebhooks.some(({ headers }) => headers["x-popina-webhook-event"] !== "order.paid")).toBe(
      false,
    );
  });

  it("is sent nothing while it is disabled, and what was due once it is resumed", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    await publishOrder(subscription);
    advance(5.1 * dayMs);
    await eventually("it to be disabled", async () => (await getWebhook(subscription)).state === "disabled");
    const before = endpoint.receivedWebhooks.length;
    endpoint.setHandler(respondWithStatus(204));
    const meanwhile = await service.publishEvent("order.paid", createOrderEventData(subscription.locationId));
    await service.waitForDelivery(subscription, meanwhile, "pending");
    advance(dayMs);
    const { principal, webhook } = subscription;
    const resumed = await service.sendRequest(
      { method: "POST", path: `/v1/webhooks/${webhook.id}/resume`, principal },
      { status: 200, schema: Webhook },
    );
    expect(resumed).toMatchObject({ state: "active", disabledReason: null, failingSince: null, lastError: null });
    await service.waitForDelivery(subscription, meanwhile, "succeeded");
    const sent = () => endpoint.receivedWebhooks.slice(before).map(({ headers }) => headers["webhook-id"]);
    expect(sent()).toContain(meanwhile);
    await eventually("the one of before", () => sent().length === 2);
  });

  it("is not failing any more once a message arrives, and its days are counted anew", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    await publishOrder(subscription);
    advance(4 * dayMs);
    endpoint.setHandler(respondWithStatus(200));
    await publishOrder(subscription, "succeeded");
    expect(await getWebhook(subscription)).toMatchObject({ failingSince: null, lastError: null });
    endpoint.setHandler(respondWithStatus(500));
    await publishOrder(subscription);
    advance(2 * dayMs);
    await publishOrder(subscription);
    expect(await getWebhook(subscription)).toMatchObject({ state: "active" });
  });

  it("is disabled at once when it answers 410", async () => {
    const { endpoint, subscription } = await createFailingSubscription();
    const other = receiver.addEndpoint();
    await service.createSubscription(other.url, subscription);
    endpoint.setHandler(respondWithStatus(410));
    const id = await service.publishEvent("order.paid", createOrderEventData(subscription.locationId));
    const { attempts } = await service.waitForDelivery(subscription, id, "failed");
    expect(attempts).toMatchObject([{ status: 410, nextAttemptAt: null }]);
    expect(await getWebhook(subscription)).toMatchObject({ state: "disabled", disabledReason: "gone" });
    const notice = await eventually("the notice", () =>
      other.receivedWebhooks.find(({ headers }) => headers["x-popina-webhook-event"] === "endpoint.disabled"),
    );
    expect(JSON.parse(notice.body).data).toMatchObject({ reason: "gone", endpointUrl: endpoint.url });
  });
});

describe("a secret that is rotated away", () => {
  it("signs for another 24 hours: for both schemes, and in the field alone", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { recipientId, principal, secret: before } = subscription;
    const rotated = await service.sendRequest(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: {} },
      { status: 200, schema: WebhookRecipientWithSecret },
    );
    const next = rotated.hmacSecret ?? "";
    expect(rotated.signingSecret).toBe(encodeSigningSecret(next));
    const signers = async () => {
      await publishOrder(subscription, "succeeded");
      const { headers, body } = endpoint.receivedWebhooks.at(-1) ?? expect.unreachable();
      const hmac = (secret: string) => createHmac("sha256", secret).update(body).digest("hex");
      const standard = [before, next].filter((secret) => {
        const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
        return String(signature).includes(
          new StandardWebhook(encodeSigningSecret(secret)).sign(String(id), new Date(Number(timestamp) * 1_000), body),
        );
      });
      return { standard, field: headers["x-popina-hmac-signature"] === hmac(before) ? "before" : "next" };
    };
    expect(await signers()).toEqual({ standard: [before, next], field: "before" });
    advance(23.9 * hourMs);
    expect(await signers()).toEqual({ standard: [before, next], field: "before" });
    advance(0.2 * hourMs);
    expect(await signers()).toEqual({ standard: [next], field: "next" });
  });

  it("signs no more at once when it has leaked", async () => {
    const endpoint = receiver.addEndpoint();
    const subscription = await service.createSubscription(endpoint.url);
    const { recipientId, principal, secret: before } = subscription;
    await publishOrder(subscription, "succeeded");
    await service.sendRequest(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: { isLeaked: true } },
      { status: 200, schema: WebhookRecipientWithSecret },
    );
    await publishOrder(subscription, "succeeded");
    const { headers, body } = endpoint.receivedWebhooks.at(-1) ?? expect.unreachable();
    expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(1);
    expect(headers["x-popina-hmac-signature"]).not.toBe(createHmac("sha256", before).update(body).digest("hex"));
  });
});
