import { setTimeout as sleep } from "node:timers/promises";
import { WebhookDelivery } from "@pragma/contracts/webhook-delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import {
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "../testing/start-test-webhooks.ts";
import { startTestWebhookReceiver, type TestWebhookReceiver } from "../testing/webhook-receiver.ts";

const ratePerSecond = 5;
const burst = 5;
const eventsPerSubscription = 8;

let service: TestWebhooksService;
let busyReceiver: TestWebhookReceiver;
/** A receiver on the host of the busy receiver, with another port. */
let otherPortReceiver: TestWebhookReceiver;
let otherHostReceiver: TestWebhookReceiver;

beforeAll(async () => {
  const variables = { WEBHOOK_HOST_RATE_PER_SECOND: String(ratePerSecond), WEBHOOK_HOST_BURST: String(burst) };
  [service, busyReceiver, otherPortReceiver, otherHostReceiver] = await Promise.all([
    startTestWebhooksService({ variables, pollSeconds: 1 }),
    startTestWebhookReceiver(),
    startTestWebhookReceiver(),
    startTestWebhookReceiver({ host: "::1" }),
  ]);
});
afterAll(async () => {
  await service?.remove();
  await Promise.all([busyReceiver, otherPortReceiver, otherHostReceiver].map((receiver) => receiver?.close()));
});

it("limits the rate of messages to one host across locations, loses no messages, and does not delay other hosts", async () => {
  const endpoints = [busyReceiver, otherPortReceiver].flatMap((receiver) =>
    Array.from({ length: 5 }, () => receiver.addEndpoint()),
  );
  const subscriptions: TestWebhookWithSecret[] = [];
  for (const { url } of endpoints) subscriptions.push(await service.createSubscription(url));
  const otherEndpoint = otherHostReceiver.addEndpoint();
  const otherSubscription = await service.createSubscription(otherEndpoint.url);
  const countReceived = () => endpoints.reduce((sum, endpoint) => sum + endpoint.receivedWebhooks.length, 0);

  const startedAt = performance.now();
  for (const { locationId } of subscriptions) {
    await Promise.all(
      Array.from({ length: eventsPerSubscription }, () =>
        service.publishEvent("order.paid", buildTestOrderEventData(locationId)),
      ),
    );
  }
  const [first] = subscriptions;
  if (!first) throw new Error("There is no subscription.");
  const { principal, webhook } = first;
  const testResponse = await service.request("POST", `/v1/webhooks/${webhook.id}/test`, { principal });
  const testDelivery = WebhookDelivery.parse(await testResponse.json());
  const messageCount = endpoints.length * eventsPerSubscription + 1;
  await service.publishEvent("order.paid", buildTestOrderEventData(otherSubscription.locationId));
  await eventually("the other host's message", () => otherEndpoint.receivedWebhooks.length === 1);
  expect(countReceived()).toBeLessThan(messageCount / 2);

  const isWithinRate = () => countReceived() <= burst + ((performance.now() - startedAt) / 1_000) * ratePerSecond;
  for (let check = 0; check < 10; check += 1) {
    expect(isWithinRate()).toBe(true);
    await sleep(100);
  }
  await eventually("all messages", () => countReceived() === messageCount, { timeoutSeconds: 60 });
  expect(isWithinRate()).toBe(true);
  for (const subscription of subscriptions) {
    const deliveries = await eventually("its deliveries", async () => {
      const current = await service.listDeliveries(subscription);
      return current.every(({ state }) => state === "succeeded") && current;
    });
    expect(deliveries.filter(({ id }) => id !== testDelivery.id)).toHaveLength(eventsPerSubscription);
    for (const { id } of deliveries) expect(await service.listAttempts(id)).toMatchObject([{ number: 1, status: 204 }]);
  }
}, 240_000);
