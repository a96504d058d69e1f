import { setTimeout as sleep } from "node:timers/promises";
import { Delivery } from "@pragma/contracts/delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { orderEvent } from "./testing/event-sender.ts";
import { type Receiver, startReceiver } from "./testing/receiver.ts";
import { type Subscription, startWebhooks, type TestWebhooks } from "./testing/start-webhooks.ts";

const rate = 5;
const burst = 5;
const eventsEach = 8;

let service: TestWebhooks;
let noisy: Receiver;
/** At the same host, on another port. */
let otherPort: Receiver;
let other: Receiver;

beforeAll(async () => {
  const variables = { WEBHOOK_HOST_RATE: String(rate), WEBHOOK_HOST_BURST: String(burst) };
  [service, noisy, otherPort, other] = await Promise.all([
    startWebhooks({ variables, pollSeconds: 1 }),
    startReceiver(),
    startReceiver(),
    startReceiver({ host: "::1" }),
  ]);
});
afterAll(async () => {
  await service?.remove();
  await Promise.all([noisy, otherPort, other].map((receiver) => receiver?.close()));
});

it("limits the messages to one host, of all locations, loses none, and delays no other host's", async () => {
  const endpoints = [noisy, otherPort].flatMap((receiver) => Array.from({ length: 5 }, () => receiver.endpoint()));
  const subscriptions: Subscription[] = [];
  for (const { url } of endpoints) subscriptions.push(await service.subscribe(url));
  const quiet = other.endpoint();
  const quietly = await service.subscribe(quiet.url);
  const received = () => endpoints.reduce((sum, endpoint) => sum + endpoint.received.length, 0);

  const since = performance.now();
  for (const { locationId } of subscriptions) {
    await Promise.all(Array.from({ length: eventsEach }, () => service.tell("order.paid", orderEvent(locationId))));
  }
  const [first] = subscriptions;
  if (!first) throw new Error("There is no subscription.");
  const { principal, webhook } = first;
  const tested = await service.ask("POST", `/v1/webhooks/${webhook.id}/test`, { principal });
  const test = Delivery.parse(await tested.json());
  const all = endpoints.length * eventsEach + 1;
  await service.tell("order.paid", orderEvent(quietly.locationId));
  await eventually("the other host's message", () => quiet.received.length === 1);
  expect(received()).toBeLessThan(all / 2);

  const isWithinRate = () => received() <= burst + ((performance.now() - since) / 1_000) * rate;
  for (let time = 0; time < 10; time += 1) {
    expect(isWithinRate()).toBe(true);
    await sleep(100);
  }
  await eventually("all messages", () => received() === all, { withinSeconds: 60 });
  expect(isWithinRate()).toBe(true);
  for (const subscription of subscriptions) {
    const states = await eventually("its deliveries", async () => {
      const deliveries = await service.deliveries(subscription);
      return deliveries.every(({ state }) => state === "succeeded") && deliveries;
    });
    expect(states.filter(({ id }) => id !== test.id)).toHaveLength(eventsEach);
    for (const { id } of states) expect(await service.attempts(id)).toMatchObject([{ number: 1, status: 204 }]);
  }
}, 90_000);
