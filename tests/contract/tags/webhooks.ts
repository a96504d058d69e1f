import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { Shop } from "../../harness/shop.ts";
import type { TagContract } from "../contract.ts";

const limitIsRaised = "The limit is raised for these tests, which create many; the service's own tests reach it.";
/** Nobody listens there. */
const endpointUrl = "http://127.0.0.1:1024/webhooks";
const events = ["order.paid"];

async function made<T = { id: string }>(shop: Shop, path: string, body?: unknown): Promise<T> {
  const answer = await shop.ask("POST", path, { body });
  if (!answer.ok) throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

const newRecipient = (shop: Shop, more: object = {}) => made(shop, "/v1/recipients", { name: "Stock keeper", ...more });

async function newWebhook(shop: Shop, more: object = {}): Promise<{ id: string; recipientId: string }> {
  const { id: recipientId } = await newRecipient(shop);
  return made(shop, "/v1/webhooks", { recipientId, endpointUrl, events, ...more });
}

const ofNewWebhook = async ({ shop }: { shop: Shop }) => ({ path: { id: (await newWebhook(shop)).id } });
const ofNobody = () => ({ path: { id: randomUUID() } });

/** A test message to the endpoint, once its delivery is in this state. */
async function delivery(shop: Shop, url: string, state: string): Promise<{ id: string }> {
  const { id } = await newWebhook(shop, { endpointUrl: url });
  const sent = await made(shop, `/v1/webhooks/${id}/test`);
  await eventually(
    `the delivery to be ${state}`,
    async () => (await shop.read(`/v1/webhooks/deliveries/${sent.id}`)).state === state,
  );
  return sent;
}

/** An endpoint that takes messages and never answers. */
async function silentEndpoint(): Promise<string> {
  const server = createServer(() => {}).unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const secret = () => randomUUID().repeat(2);

export const webhooks: TagContract = {
  upsertRecipient: {
    answers: {
      201: () => ({ body: { name: "Stock keeper" } }),
      200: async ({ shop }) => ({ body: { id: (await newRecipient(shop)).id, name: "Another name" } }),
      location_forbidden: ({ other }) => ({ body: { name: "Stock keeper", locationId: other.locationId } }),
      location_not_found: ({ product }) => ({
        body: { name: "Stock keeper", locationId: randomUUID() },
        key: product.adminKey,
      }),
      recipient_conflict: async ({ other }) => ({ body: { id: (await newRecipient(other)).id, name: "Stock keeper" } }),
      too_many_secrets: async ({ shop }) => {
        const { id } = await newRecipient(shop);
        for (let rotation = 1; rotation <= 4; rotation += 1) await made(shop, `/v1/recipients/${id}/rotate`, {});
        return { body: { id, name: "Stock keeper", hmacSecret: secret() } };
      },
    },
    unreachable: { limit_reached: limitIsRaised },
    stranger: 409,
  },
  listRecipients: {
    answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    stranger: 403,
  },
  deleteRecipient: {
    answers: {
      204: async ({ shop }) => ({ path: { id: (await newRecipient(shop)).id } }),
      recipient_not_found: ofNobody,
      recipient_in_use: async ({ shop }) => ({ path: { id: (await newWebhook(shop)).recipientId } }),
    },
    stranger: 404,
  },
  rotateRecipientSecret: {
    answers: {
      200: async ({ shop }) => ({ path: { id: (await newRecipient(shop)).id }, body: {} }),
      recipient_not_found: () => ({ ...ofNobody(), body: {} }),
      too_many_secrets: async ({ shop }) => {
        const { id } = await newRecipient(shop);
        for (let rotation = 1; rotation <= 4; rotation += 1) await made(shop, `/v1/recipients/${id}/rotate`, {});
        return { path: { id }, body: {} };
      },
    },
    stranger: 404,
  },
  upsertWebhook: {
    answers: {
      201: async ({ shop }) => ({ body: { recipientId: (await newRecipient(shop)).id, endpointUrl, events } }),
      200: async ({ shop }) => {
        const { id, recipientId } = await newWebhook(shop);
        return { body: { id, recipientId, endpointUrl, events: ["order.canceled"] } };
      },
      location_forbidden: async ({ shop, other }) => ({
        body: { recipientId: (await newRecipient(shop)).id, endpointUrl, events, locationId: other.locationId },
      }),
      location_not_found: async ({ shop, product }) => ({
        body: { recipientId: (await newRecipient(shop)).id, endpointUrl, events, locationId: randomUUID() },
        key: product.adminKey,
      }),
      webhook_conflict: async ({ shop, other }) => ({
        body: { id: (await newWebhook(other)).id, recipientId: (await newRecipient(shop)).id, endpointUrl, events },
      }),
    },
    unreachable: { limit_reached: limitIsRaised },
    stranger: 400,
  },
  listWebhooks: {
    answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    stranger: 403,
  },
  getWebhook: { answers: { 200: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  deleteWebhook: { answers: { 204: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  pauseWebhook: { answers: { 200: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  resumeWebhook: { answers: { 200: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  testWebhook: { answers: { 202: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  listDeliveries: { answers: { 200: ofNewWebhook, webhook_not_found: ofNobody }, stranger: 404 },
  getDelivery: {
    answers: {
      200: async ({ shop }) => ({ path: { id: (await delivery(shop, endpointUrl, "failed")).id } }),
      delivery_not_found: ofNobody,
    },
    stranger: 404,
  },
  replayDelivery: {
    answers: {
      202: async ({ shop }) => ({ path: { id: (await delivery(shop, endpointUrl, "failed")).id } }),
      delivery_not_found: ofNobody,
      delivery_under_way: async ({ shop }) => ({
        path: { id: (await delivery(shop, await silentEndpoint(), "sending")).id },
      }),
    },
    stranger: 404,
  },
  recoverDeliveries: {
    answers: {
      202: async (world) => ({ ...(await ofNewWebhook(world)), body: { since: "2026-05-28T00:00:00Z" } }),
      webhook_not_found: () => ({ ...ofNobody(), body: { since: "2026-05-28T00:00:00Z" } }),
    },
    stranger: 404,
  },
  getRecovery: {
    answers: {
      200: async ({ shop }) => {
        const { id } = await newWebhook(shop);
        const { id: recoveryId } = await made(shop, `/v1/webhooks/${id}/recover`, { since: "2026-05-28T00:00:00Z" });
        await eventually(
          "the recovery to be done",
          async () => (await shop.read(`/v1/webhooks/${id}/recoveries/${recoveryId}`)).state === "done",
        );
        return { path: { id, recoveryId } };
      },
      webhook_not_found: () => ({ path: { id: randomUUID(), recoveryId: randomUUID() } }),
      recovery_not_found: async (world) => {
        const { path } = await ofNewWebhook(world);
        return { path: { ...path, recoveryId: randomUUID() } };
      },
    },
    stranger: 404,
  },
};
