import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestLocation } from "../../harness/test-location.ts";
import type { TagContract } from "../operation-contract.ts";

const untestableLimit = "The limit is raised for these tests, which create many; the service's own tests reach it.";
/** Nobody listens there. */
const endpointUrl = "http://127.0.0.1:1024/webhooks";
const webhookEvents = ["order.paid"];

async function createWebhookResource<T = { id: string }>(shop: TestLocation, path: string, body?: unknown): Promise<T> {
  const answer = await shop.request("POST", path, { body });
  if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

const createRecipient = (shop: TestLocation, more: object = {}) =>
  createWebhookResource(shop, "/v1/recipients", { name: "Stock keeper", ...more });

async function createWebhook(shop: TestLocation, more: object = {}): Promise<{ id: string; recipientId: string }> {
  const { id: recipientId } = await createRecipient(shop);
  return createWebhookResource(shop, "/v1/webhooks", { recipientId, endpointUrl, events: webhookEvents, ...more });
}

const requestOfNewWebhook = async ({ shop }: { shop: TestLocation }) => ({
  path: { id: (await createWebhook(shop)).id },
});
const requestOfUnknownId = () => ({ path: { id: randomUUID() } });

/** A test message to the endpoint, once its delivery is in this state. */
async function createDeliveryInState(shop: TestLocation, url: string, state: string): Promise<{ id: string }> {
  const { id } = await createWebhook(shop, { endpointUrl: url });
  const sent = await createWebhookResource(shop, `/v1/webhooks/${id}/test`);
  await eventually(
    `the delivery to be ${state}`,
    async () => (await shop.getJson(`/v1/webhooks/deliveries/${sent.id}`)).state === state,
  );
  return sent;
}

/** An endpoint that takes messages and never answers. */
async function startSilentEndpoint(): Promise<string> {
  const server = createServer(() => {}).unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const createSecret = () => randomUUID().repeat(2);

export const webhooksContract: TagContract = {
  upsertRecipient: {
    requestsByOutcome: {
      201: () => ({ body: { name: "Stock keeper" } }),
      200: async ({ shop }) => ({ body: { id: (await createRecipient(shop)).id, name: "Another name" } }),
      location_forbidden: ({ other }) => ({ body: { name: "Stock keeper", locationId: other.locationId } }),
      location_not_found: ({ product }) => ({
        body: { name: "Stock keeper", locationId: randomUUID() },
        key: product.adminKey,
      }),
      recipient_conflict: async ({ other }) => ({
        body: { id: (await createRecipient(other)).id, name: "Stock keeper" },
      }),
      too_many_secrets: async ({ shop }) => {
        const { id } = await createRecipient(shop);
        for (let rotation = 1; rotation <= 4; rotation += 1)
          await createWebhookResource(shop, `/v1/recipients/${id}/rotate`, {});
        return { body: { id, name: "Stock keeper", hmacSecret: createSecret() } };
      },
    },
    untestableOutcomes: { limit_reached: untestableLimit },
    statusForOtherLocation: 409,
  },
  listRecipients: {
    requestsByOutcome: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
  },
  deleteRecipient: {
    requestsByOutcome: {
      204: async ({ shop }) => ({ path: { id: (await createRecipient(shop)).id } }),
      recipient_not_found: requestOfUnknownId,
      recipient_in_use: async ({ shop }) => ({ path: { id: (await createWebhook(shop)).recipientId } }),
    },
    statusForOtherLocation: 404,
  },
  rotateRecipientSecret: {
    requestsByOutcome: {
      200: async ({ shop }) => ({ path: { id: (await createRecipient(shop)).id }, body: {} }),
      recipient_not_found: () => ({ ...requestOfUnknownId(), body: {} }),
      too_many_secrets: async ({ shop }) => {
        const { id } = await createRecipient(shop);
        for (let rotation = 1; rotation <= 4; rotation += 1)
          await createWebhookResource(shop, `/v1/recipients/${id}/rotate`, {});
        return { path: { id }, body: {} };
      },
    },
    statusForOtherLocation: 404,
  },
  upsertWebhook: {
    requestsByOutcome: {
      201: async ({ shop }) => ({
        body: { recipientId: (await createRecipient(shop)).id, endpointUrl, events: webhookEvents },
      }),
      200: async ({ shop }) => {
        const { id, recipientId } = await createWebhook(shop);
        return { body: { id, recipientId, endpointUrl, events: ["order.canceled"] } };
      },
      location_forbidden: async ({ shop, other }) => ({
        body: {
          recipientId: (await createRecipient(shop)).id,
          endpointUrl,
          events: webhookEvents,
          locationId: other.locationId,
        },
      }),
      location_not_found: async ({ shop, product }) => ({
        body: {
          recipientId: (await createRecipient(shop)).id,
          endpointUrl,
          events: webhookEvents,
          locationId: randomUUID(),
        },
        key: product.adminKey,
      }),
      webhook_conflict: async ({ shop, other }) => ({
        body: {
          id: (await createWebhook(other)).id,
          recipientId: (await createRecipient(shop)).id,
          endpointUrl,
          events: webhookEvents,
        },
      }),
    },
    untestableOutcomes: { limit_reached: untestableLimit },
    statusForOtherLocation: 400,
  },
  listWebhooks: {
    requestsByOutcome: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
  },
  getWebhook: {
    requestsByOutcome: { 200: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  deleteWebhook: {
    requestsByOutcome: { 204: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  pauseWebhook: {
    requestsByOutcome: { 200: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  resumeWebhook: {
    requestsByOutcome: { 200: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  testWebhook: {
    requestsByOutcome: { 202: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  listDeliveries: {
    requestsByOutcome: { 200: requestOfNewWebhook, webhook_not_found: requestOfUnknownId },
    statusForOtherLocation: 404,
  },
  getDelivery: {
    requestsByOutcome: {
      200: async ({ shop }) => ({ path: { id: (await createDeliveryInState(shop, endpointUrl, "failed")).id } }),
      delivery_not_found: requestOfUnknownId,
    },
    statusForOtherLocation: 404,
  },
  replayDelivery: {
    requestsByOutcome: {
      202: async ({ shop }) => ({ path: { id: (await createDeliveryInState(shop, endpointUrl, "failed")).id } }),
      delivery_not_found: requestOfUnknownId,
      delivery_under_way: async ({ shop }) => ({
        path: { id: (await createDeliveryInState(shop, await startSilentEndpoint(), "sending")).id },
      }),
    },
    statusForOtherLocation: 404,
  },
  recoverDeliveries: {
    requestsByOutcome: {
      202: async (world) => ({ ...(await requestOfNewWebhook(world)), body: { since: "2026-05-28T00:00:00Z" } }),
      webhook_not_found: () => ({ ...requestOfUnknownId(), body: { since: "2026-05-28T00:00:00Z" } }),
    },
    statusForOtherLocation: 404,
  },
  getRecovery: {
    requestsByOutcome: {
      200: async ({ shop }) => {
        const { id } = await createWebhook(shop);
        const { id: recoveryId } = await createWebhookResource(shop, `/v1/webhooks/${id}/recover`, {
          since: "2026-05-28T00:00:00Z",
        });
        await eventually(
          "the recovery to be done",
          async () => (await shop.getJson(`/v1/webhooks/${id}/recoveries/${recoveryId}`)).state === "done",
        );
        return { path: { id, recoveryId } };
      },
      webhook_not_found: () => ({ path: { id: randomUUID(), recoveryId: randomUUID() } }),
      recovery_not_found: async (world) => {
        const { path } = await requestOfNewWebhook(world);
        return { path: { ...path, recoveryId: randomUUID() } };
      },
    },
    statusForOtherLocation: 404,
  },
};
