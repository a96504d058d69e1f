import { setTimeout as sleep } from "node:timers/promises";
import { WebhookDelivery } from "@pragma/contracts/webhook-delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createOrderEventData } from "../testing/event-publisher.ts";
import { startTestWebhooks, type TestWebhookSubscription, type TestWebhooks } from "../testing/start-test-webhooks.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

const ratePerSecond = 5;
const burst = 5;
const eventsPerSubscription = 8;

let service: TestWebhooks;
let noisy: WebhookReceiver;
/** At the same host, on another port. */
let otherPort: WebhookReceiver;
let other: WebhookReceiver;

beforeAll(async () => {
  const variables = { WEBHOOK_HOST_RATE: String(ratePerSecond), WEBHOOK_HOST_BURST: String(burst) };
  [service, noisy, otherPort, other] = await Promise.all([
    startTestWebhooks({ variables, pollSeconds: 1 }),
    startWebhookReceiver(),
    startWebhookReceiver(),
    startWebhookReceiver({ host: "::1" }),
  ]);
});
afterAll(async () => {
  await service?.remove();
  await Promise.all([noisy, otherPort, other].map((receiver) => receiver?.close()));
});

it("limits the messages to one host, of all locations, loses none, and delays no other host's", async () => {
  const endpoints = [noisy, otherPort].flatMap((receiver) => Array.from({ length: 5 }, () => receiver.addEndpoint()));
  const subscriptions: TestWebhookSubscription[] = [];
  for (const { url } of endpoints) subscriptions.push(await service.createSubscription(url));
  const quiet = other.addEndpoint();
  const quietly = await service.createSubscription(quiet.url);
  const received = () => endpoints.reduce((sum, endpoint) => sum + endpoint.receivedWebhooks.length, 0);

  const since = performance.now();
  for (const { locationId } of subscriptions) {
    await Promise.all(
      Array.from({ length: eventsPerSubscription }, () =>
        service.publishEvent("order.paid", createOrderEventData(locationId)),
      ),
    );
  }
  const [first] = subscriptions;
  if (!first) throw new Error("There is no subscription.");
  const { principal, webhook } = first;
  const tested = await service.request("POST", `/v1/webhooks/${webhook.id}/test`, { principal });
  const test = WebhookDelivery.parse(await tested.json());
  const all = endpoints.length * eventsPerSubscription + 1;
  await service.publishEvent("order.paid", createOrderEventData(quietly.locationId));
  await eventually("the other host's message", () => quiet.receivedWebhooks.length === 1);
  expect(received()).toBeLessThan(all / 2);

  const isWithinRate = () => received() <= burst + ((performance.now() - since) / 1_000) * ratePerSecond;
  for (let time = 0; time < 10; time += 1) {
    expect(isWithinRate()).toBe(true);
    await sleep(100);
  }
  await eventually("all messages", () => received() === all, { timeoutSeconds: 60 });
  expect(isWithinRate()).toBe(true);
  for (const subscription of subscriptions) {
    const states = await eventually("its deliveries", async () => {
      const deliveries = await service.listDeliveries(subscription);
      return deliveries.every(({ state }) => state === "succeeded") && deliveries;
    });
    expect(states.filter(({ id }) => id !== test.id)).toHaveLength(eventsPerSubscription);
    for (const { id } of states) expect(await service.listAttempts(id)).toMatchObject([{ number: 1, status: 204 }]);
  }
}, 90_000);
