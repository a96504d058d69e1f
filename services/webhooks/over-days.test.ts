import { createHmac } from "node:crypto";
import { RecipientWithSecret } from "@pragma/contracts/recipient";
import { Webhook } from "@pragma/contracts/webhook";
import { eventually } from "@pragma/runtime/testing/eventually";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signingSecretOf } from "./sign-message.ts";
import { orderEvent } from "./testing/event-sender.ts";
import { day, hour, minute, movableClock, second } from "./testing/movable-clock.ts";
import { answers, type Receiver, startReceiver, type TestEndpoint } from "./testing/receiver.ts";
import { type Subscription, startWebhooks, type TestWebhooks } from "./testing/start-webhooks.ts";

/** The service under a clock that the tests move on: days pass, and nobody sleeps. */
const { clock, advance } = movableClock();
let service: TestWebhooks;
let receiver: Receiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startWebhooks({ clock, pollSeconds: 0.05 }), startReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const schedule = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** The endpoint of a new webhook, which fails. */
async function failing(): Promise<{ endpoint: TestEndpoint; subscription: Subscription }> {
  const endpoint = receiver.endpoint(answers(500, { body: "broken" }));
  return { endpoint, subscription: await service.subscribe(endpoint.url) };
}

/**
 * Tells a webhook of an order, and waits until its endpoint was asked about all that is due, and the answers written
 * down: an attempt that was still under way when the days pass would be taken for interrupted.
 */
async function tellOne(subscription: Subscription, state: "pending" | "succeeded" = "pending"): Promise<string> {
  const id = await service.tell("order.paid", orderEvent(subscription.locationId));
  await eventually("all attempts to be logged", async () => {
    const [delivery] = (await service.deliveries(subscription)).filter(({ messageId }) => messageId === id);
    if (delivery?.state !== state) return false;
    return (await service.attempts(delivery.id)).length > 0 && (await unfinished(subscription)) === 0;
  });
  return id;
}

/** Deliveries that an attempt is under way or due of. */
async function unfinished({ webhook }: Subscription): Promise<number> {
  const { count } = await service.db.sql`
    select from deliveries
    where webhook_id = ${webhook.id} and (state = 'sending' or state = 'pending' and due_at <= ${clock()})`;
  return count;
}

const stateOf = async ({ webhook, principal }: Subscription) =>
  (await service.get(`/v1/webhooks/${webhook.id}`, Webhook.loose(), principal)) as Webhook;

describe("a delivery that fails and fails", () => {
  it("is attempted ten times over three days, each as long after the other as the schedule says", async () => {
    const { endpoint, subscription } = await failing();
    const id = await tellOne(subscription);
    for (const [index, wait] of schedule.entries()) {
      const { attempts } = await service.delivery(subscription, id, "pending");
      const last = attempts.at(-1);
      expect(last).toMatchObject({ number: index + 1, status: 500, response: "broken" });
      const planned = Date.parse(last?.nextAttemptAt ?? "") - clock().getTime();
      expect(planned).toBeGreaterThanOrEqual(wait);
      expect(planned).toBeLessThanOrEqual(wait * 1.1 + 1);
      advance(planned + 3 * second);
      await eventually(`attempt ${index + 2}`, () => endpoint.received.length === index + 2);
    }
    const { attempts } = await service.delivery(subscription, id, "failed");
    expect(attempts).toHaveLength(10);
    expect(attempts.at(-1)?.nextAttemptAt).toBeNull();
    expect(new Set(endpoint.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  });

  it("waits as long as the endpoint asks", async () => {
    const { endpoint, subscription } = await failing();
    endpoint.behave(answers(429, { headers: { "retry-after": "7200" } }));
    const id = await tellOne(subscription);
    const { nextAttemptAt } = await service.delivery(subscription, id, "pending");
    const wait = Date.parse(nextAttemptAt ?? "") - clock().getTime();
    expect(wait).toBeGreaterThanOrEqual(2 * hour);
    expect(wait).toBeLessThanOrEqual(2.2 * hour + 1);
  });
});

describe("an endpoint that has nothing but failures", () => {
  it("is warned of after two and a half days, and disabled after five: the recipient's others are told", async () => {
    const { endpoint, subscription } = await failing();
    const other = receiver.endpoint();
    await service.subscribe(other.url, { ...subscription, events: ["report.finalized"] });
    const told = () => other.received.map(({ body }) => JSON.parse(body));
    await tellOne(subscription);
    const failingSince = clock().toISOString();
    expect(await stateOf(subscription)).toMatchObject({ state: "active", failingSince });

    advance(2.4 * day);
    await tellOne(subscription);
    expect(told()).toEqual([]);
    advance(0.2 * day);
    await tellOne(subscription);
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
    advance(2.3 * day);
    await tellOne(subscription);
    expect(told()).toHaveLength(1);
    expect(await stateOf(subscription)).toMatchObject({ state: "active" });

    // What has failed before is due again, and fails again.
    advance(0.2 * day);
    await eventually("the notice", () => told().length === 2);
    expect(told()[1]).toMatchObject({
      meta: { event: "endpoint.disabled" },
      data: { webhookId: subscription.webhook.id, reason: "failing", failingSince },
    });
    expect(await stateOf(subscription)).toMatchObject({ state: "disabled", disabledReason: "failing" });
    expect(endpoint.received.some(({ headers }) => headers["x-popina-webhook-event"] !== "order.paid")).toBe(false);
  });

  it("is sent nothing while it is disabled, and what was due once it is resumed", async () => {
    const { endpoint, subscription } = await failing();
    await tellOne(subscription);
    advance(5.1 * day);
    await eventually("it to be disabled", async () => (await stateOf(subscription)).state === "disabled");
    const before = endpoint.received.length;
    endpoint.behave(answers(204));
    const meanwhile = await service.tell("order.paid", orderEvent(subscription.locationId));
    await service.delivery(subscription, meanwhile, "pending");
    advance(day);
    const { principal, webhook } = subscription;
    const resumed = await service.send(
      { method: "POST", path: `/v1/webhooks/${webhook.id}/resume`, principal },
      { status: 200, schema: Webhook },
    );
    expect(resumed).toMatchObject({ state: "active", disabledReason: null, failingSince: null, lastError: null });
    await service.delivery(subscription, meanwhile, "succeeded");
    const sent = () => endpoint.received.slice(before).map(({ headers }) => headers["webhook-id"]);
    expect(sent()).toContain(meanwhile);
    await eventually("the one of before", () => sent().length === 2);
  });

  it("is not failing any more once a message arrives, and its days are counted anew", async () => {
    const { endpoint, subscription } = await failing();
    await tellOne(subscription);
    advance(4 * day);
    endpoint.behave(answers(200));
    await tellOne(subscription, "succeeded");
    expect(await stateOf(subscription)).toMatchObject({ failingSince: null, lastError: null });
    endpoint.behave(answers(500));
    await tellOne(subscription);
    advance(2 * day);
    await tellOne(subscription);
    expect(await stateOf(subscription)).toMatchObject({ state: "active" });
  });

  it("is disabled at once when it answers 410", async () => {
    const { endpoint, subscription } = await failing();
    const other = receiver.endpoint();
    await service.subscribe(other.url, subscription);
    endpoint.behave(answers(410));
    const id = await service.tell("order.paid", orderEvent(subscription.locationId));
    const { attempts } = await service.delivery(subscription, id, "failed");
    expect(attempts).toMatchObject([{ status: 410, nextAttemptAt: null }]);
    expect(await stateOf(subscription)).toMatchObject({ state: "disabled", disabledReason: "gone" });
    const notice = await eventually("the notice", () =>
      other.received.find(({ headers }) => headers["x-popina-webhook-event"] === "endpoint.disabled"),
    );
    expect(JSON.parse(notice.body).data).toMatchObject({ reason: "gone", endpointUrl: endpoint.url });
  });
});

describe("a secret that is rotated away", () => {
  it("signs for another 24 hours: for both schemes, and in the field alone", async () => {
    const endpoint = receiver.endpoint();
    const subscription = await service.subscribe(endpoint.url);
    const { recipientId, principal, secret: before } = subscription;
    const rotated = await service.send(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: {} },
      { status: 200, schema: RecipientWithSecret },
    );
    const next = rotated.hmacSecret ?? "";
    expect(rotated.signingSecret).toBe(signingSecretOf(next));
    const signers = async () => {
      await tellOne(subscription, "succeeded");
      const { headers, body } = endpoint.received.at(-1) ?? expect.unreachable();
      const hmac = (secret: string) => createHmac("sha256", secret).update(body).digest("hex");
      const standard = [before, next].filter((secret) => {
        const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
        return String(signature).includes(
          new StandardWebhook(signingSecretOf(secret)).sign(String(id), new Date(Number(timestamp) * 1_000), body),
        );
      });
      return { standard, field: headers["x-popina-hmac-signature"] === hmac(before) ? "before" : "next" };
    };
    expect(await signers()).toEqual({ standard: [before, next], field: "before" });
    advance(23.9 * hour);
    expect(await signers()).toEqual({ standard: [before, next], field: "before" });
    advance(0.2 * hour);
    expect(await signers()).toEqual({ standard: [next], field: "next" });
  });

  it("signs no more at once when it has leaked", async () => {
    const endpoint = receiver.endpoint();
    const subscription = await service.subscribe(endpoint.url);
    const { recipientId, principal, secret: before } = subscription;
    await tellOne(subscription, "succeeded");
    await service.send(
      { method: "POST", path: `/v1/recipients/${recipientId}/rotate`, principal, body: { isLeaked: true } },
      { status: 200, schema: RecipientWithSecret },
    );
    await tellOne(subscription, "succeeded");
    const { headers, body } = endpoint.received.at(-1) ?? expect.unreachable();
    expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(1);
    expect(headers["x-popina-hmac-signature"]).not.toBe(createHmac("sha256", before).update(body).digest("hex"));
  });
});
