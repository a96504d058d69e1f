import { randomUUID } from "node:crypto";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { sandboxServiceConsumerName } from "@pragma/contracts/sandbox";
import { Webhook } from "@pragma/contracts/webhook";
import type { WebhookDelivery } from "@pragma/contracts/webhook-delivery";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildTestOrderEventData } from "../testing/event-publisher.ts";
import {
  createWebhooksTestPrincipal,
  startTestWebhooksService,
  type TestWebhooksService,
  type TestWebhookWithSecret,
} from "../testing/start-test-webhooks.ts";
import { startTestWebhookReceiver, type TestWebhookReceiver } from "../testing/webhook-receiver.ts";

const maximum = 3;

let service: TestWebhooksService;
let receiver: TestWebhookReceiver;

beforeAll(async () => {
  const variables = { MAX_SANDBOX_WEBHOOK_MESSAGES_PER_DAY: String(maximum) };
  [service, receiver] = await Promise.all([startTestWebhooksService({ variables }), startTestWebhookReceiver()]);
});
afterAll(async () => {
  await service?.remove();
  await receiver?.close();
});

const createLocation = (isSandbox: boolean) => ({
  ...{ id: randomUUID(), application: "POPINA" as const, legacyId: null, timeZone: "Europe/Paris" },
  ...(isSandbox && { isSandbox: true as const }),
});

const createSubscription = (location: ReturnType<typeof createLocation>, url: string, consumer = "Sandbox") =>
  service.createSubscription(url, { principal: createWebhooksTestPrincipal({ location, consumer }) });

/** Publishes events, and returns their deliveries once all are settled. */
async function sendMessages(subscription: TestWebhookWithSecret, count: number): Promise<WebhookDelivery[]> {
  const earlier = await service.listDeliveries(subscription);
  for (let index = 0; index < count; index++)
    await service.publishEvent("order.paid", buildTestOrderEventData(subscription.locationId));
  return eventually("the deliveries to be settled", async () => {
    const deliveries = await service.listDeliveries(subscription);
    const isSettled = deliveries.every(({ state }) => state === "succeeded" || state === "failed");
    return isSettled && deliveries.length === earlier.length + count && deliveries;
  });
}

const withState = (state: WebhookDelivery["state"], deliveries: WebhookDelivery[]) =>
  deliveries.filter((delivery) => delivery.state === state);

const replay = ({ principal }: TestWebhookWithSecret, { id }: WebhookDelivery) =>
  service.request("POST", `/v1/webhooks/deliveries/${id}/replay`, { principal });

it("sends no more messages of a sandbox than its daily maximum, states why, and continues on the next day", async () => {
  const endpoint = receiver.addEndpoint();
  const sandbox = createLocation(true);
  const subscription = await createSubscription(sandbox, endpoint.url);
  const deliveries = await sendMessages(subscription, maximum + 2);
  const [succeeded, failed] = [withState("succeeded", deliveries), withState("failed", deliveries)];
  expect([succeeded.length, failed.length, endpoint.receivedWebhooks.length]).toEqual([maximum, 2, maximum]);
  const [refused] = failed;
  if (!refused) throw new Error("There is no failed delivery.");
  expect(await service.listAttempts(refused.id)).toMatchObject([
    { number: 1, status: null, nextAttemptAt: null, error: expect.stringMatching(/`webhook_messages`.*00:00 UTC/) },
  ]);

  // Another endpoint, test messages and replays have no quota of their own.
  const other = await createSubscription(sandbox, receiver.addEndpoint().url);
  const testPath = `/v1/webhooks/${other.webhook.id}/test`;
  expect((await service.request("POST", testPath, { principal: other.principal })).status).toBe(202);
  expect(withState("failed", await sendMessages(other, 1))).toHaveLength(2);
  const [delivered] = succeeded;
  if (!delivered) throw new Error("There is no delivery.");
  expect((await replay(subscription, delivered)).status).toBe(202);
  await service.waitForDelivery(subscription, delivered.messageId, "failed");

  // The endpoint itself has not failed.
  const { data } = await service.getJson("/v1/webhooks/", paginatedSchema(Webhook), subscription.principal);
  expect(data).toMatchObject([
    { state: "active", failingSince: null, lastError: null },
    { state: "active", failingSince: null, lastError: null },
  ]);

  await service.db.sql`update daily_usage set day = day - 1 where location_id = ${sandbox.id}`;
  expect((await replay(subscription, refused)).status).toBe(202);
  await service.waitForDelivery(subscription, refused.messageId, "succeeded");
  expect(endpoint.receivedWebhooks).toHaveLength(maximum + 1);
});

it("does not count messages of other locations", async () => {
  const endpoint = receiver.addEndpoint();
  const location = createLocation(false);
  const subscription = await createSubscription(location, endpoint.url);
  expect(withState("succeeded", await sendMessages(subscription, maximum + 2))).toHaveLength(maximum + 2);
  expect(
    await service.db.sql`select from daily_usage where quota = 'webhook_messages' and location_id = ${location.id}`,
  ).toHaveLength(0);
});

it("does not count messages to the inbox of a sandbox, unless its webhook gets another endpoint", async () => {
  const sandbox = createLocation(true);
  const subscription = await createSubscription(sandbox, receiver.addEndpoint().url, sandboxServiceConsumerName);
  expect(withState("succeeded", await sendMessages(subscription, maximum + 1))).toHaveLength(maximum + 1);
  const principal = createWebhooksTestPrincipal({ location: sandbox });
  const { id, recipientId, endpointUrl } = subscription.webhook;
  const update = async (url: string) => {
    const body = { id, recipientId, endpointUrl: url, events: ["order.paid"] };
    expect((await service.request("POST", "/v1/webhooks/", { principal, body })).status).toBe(200);
  };
  await update(endpointUrl);
  expect(withState("failed", await sendMessages(subscription, 1))).toEqual([]);
  await update(receiver.addEndpoint().url);
  expect(withState("failed", await sendMessages(subscription, maximum + 1))).toHaveLength(1);
});
