import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TestLocation } from "../../harness/test-location.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

const untestableLimit =
  "The limit is raised for these tests, which create many webhooks; the service's own tests reach it.";
/** The URL of an unreachable endpoint. No server listens on its port. */
const endpointUrl = "http://127.0.0.1:1024/webhooks";
const webhookEvents = ["order.paid"];

const createRecipient = (testLocation: TestLocation, overrides: object = {}) =>
  testLocation.create("/v1/recipients", { name: "Stock keeper", ...overrides });

async function createWebhook(
  testLocation: TestLocation,
  overrides: object = {},
): Promise<{ id: string; recipientId: string }> {
  const { id: recipientId } = await createRecipient(testLocation);
  return testLocation.create("/v1/webhooks", {
    recipientId,
    endpointUrl,
    events: webhookEvents,
    ...overrides,
  });
}

const requestOfNewWebhook = async ({ testLocation }: { testLocation: TestLocation }) => ({
  path: { id: (await createWebhook(testLocation)).id },
});
const requestOfUnknownId = () => ({ path: { id: randomUUID() } });

/** Sends a test message to the endpoint, waits until the delivery has this state, and returns the delivery. */
async function createDeliveryInState(testLocation: TestLocation, url: string, state: string): Promise<{ id: string }> {
  const { id } = await createWebhook(testLocation, { endpointUrl: url });
  const delivery = await testLocation.create(`/v1/webhooks/${id}/test`);
  await eventually(
    `the delivery to be ${state}`,
    async () => (await testLocation.getJson(`/v1/webhooks/deliveries/${delivery.id}`)).state === state,
  );
  return delivery;
}

/** Starts an endpoint that accepts connections but never responds, and returns its URL. */
async function startSilentEndpoint(): Promise<string> {
  const server = createServer(() => {}).unref();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const createSecret = () => randomUUID().repeat(2);

export const webhooksContractTestCases: TagContractTestCases = {
  upsertRecipient: {
    requestsByOutcome: {
      201: () => ({ body: { name: "Stock keeper" } }),
      200: async ({ testLocation }) => ({
        body: { id: (await createRecipient(testLocation)).id, name: "Another name" },
      }),
      location_forbidden: ({ otherLocation }) => ({
        body: { name: "Stock keeper", locationId: otherLocation.locationId },
      }),
      location_not_found: ({ product }) => ({
        body: { name: "Stock keeper", locationId: randomUUID() },
        key: product.adminKey,
      }),
      recipient_conflict: async ({ otherLocation }) => ({
        body: { id: (await createRecipient(otherLocation)).id, name: "Stock keeper" },
      }),
      too_many_secrets: async ({ testLocation }) => {
        const { id } = await createRecipient(testLocation);
        for (let rotation = 1; rotation <= 4; rotation += 1)
          await testLocation.create(`/v1/recipients/${id}/rotate`, {});
        return { body: { id, name: "Stock keeper", hmacSecret: createSecret() } };
      },
    },
    untestableOutcomes: { limit_reached: untestableLimit },
    statusForOtherLocation: 409,
  },
  listRecipients: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  deleteRecipient: {
    requestsByOutcome: {
      204: async ({ testLocation }) => ({ path: { id: (await createRecipient(testLocation)).id } }),
      recipient_not_found: requestOfUnknownId,
      recipient_in_use: async ({ testLocation }) => ({ path: { id: (await createWebhook(testLocation)).recipientId } }),
    },
    statusForOtherLocation: 404,
  },
  rotateRecipientSecret: {
    requestsByOutcome: {
      200: async ({ testLocation }) => ({ path: { id: (await createRecipient(testLocation)).id }, body: {} }),
      recipient_not_found: () => ({ ...requestOfUnknownId(), body: {} }),
      too_many_secrets: async ({ testLocation }) => {
        const { id } = await createRecipient(testLocation);
        for (let rotation = 1; rotation <= 4; rotation += 1)
          await testLocation.create(`/v1/recipients/${id}/rotate`, {});
        return { path: { id }, body: {} };
      },
    },
    statusForOtherLocation: 404,
  },
  upsertWebhook: {
    requestsByOutcome: {
      201: async ({ testLocation }) => ({
        body: { recipientId: (await createRecipient(testLocation)).id, endpointUrl, events: webhookEvents },
      }),
      200: async ({ testLocation }) => {
        const { id, recipientId } = await createWebhook(testLocation);
        return { body: { id, recipientId, endpointUrl, events: ["order.canceled"] } };
      },
      location_forbidden: async ({ testLocation, otherLocation }) => ({
        body: {
          recipientId: (await createRecipient(testLocation)).id,
          endpointUrl,
          events: webhookEvents,
          locationId: otherLocation.locationId,
        },
      }),
      location_not_found: async ({ testLocation, product }) => ({
        body: {
          recipientId: (await createRecipient(testLocation)).id,
          endpointUrl,
          events: webhookEvents,
          locationId: randomUUID(),
        },
        key: product.adminKey,
      }),
      webhook_conflict: async ({ testLocation, otherLocation }) => ({
        body: {
          id: (await createWebhook(otherLocation)).id,
          recipientId: (await createRecipient(testLocation)).id,
          endpointUrl,
          events: webhookEvents,
        },
      }),
    },
    untestableOutcomes: { limit_reached: untestableLimit },
    statusForOtherLocation: 400,
  },
  listWebhooks: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
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
  listAllDeliveries: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }),
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID(), since: "2026-05-28" },
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
  },
  replayDeliveries: {
    requestsByOutcome: {
      invalid_page_token: () => ({ body: { pageToken: "x" } }),
      location_forbidden: ({ otherLocation }) => ({ body: { locationId: otherLocation.locationId } }),
      location_not_found: ({ product }) => ({
        body: { locationId: randomUUID(), since: "2026-05-28" },
        key: product.adminKey,
      }),
      202: async ({ testLocation }) => {
        const { webhookId } = (await createDeliveryInState(testLocation, endpointUrl, "failed")) as {
          webhookId?: string;
        };
        return { body: { webhookId, locationId: testLocation.locationId } };
      },
    },
    statusForOtherLocation: 403,
  },
  getDelivery: {
    requestsByOutcome: {
      200: async ({ testLocation }) => ({
        path: { id: (await createDeliveryInState(testLocation, endpointUrl, "failed")).id },
      }),
      delivery_not_found: requestOfUnknownId,
    },
    statusForOtherLocation: 404,
  },
  replayDelivery: {
    requestsByOutcome: {
      202: async ({ testLocation }) => ({
        path: { id: (await createDeliveryInState(testLocation, endpointUrl, "failed")).id },
      }),
      delivery_not_found: requestOfUnknownId,
      delivery_under_way: async ({ testLocation }) => ({
        path: { id: (await createDeliveryInState(testLocation, await startSilentEndpoint(), "sending")).id },
      }),
    },
    statusForOtherLocation: 404,
  },
  recoverDeliveries: {
    requestsByOutcome: {
      202: async (fixture) => ({ ...(await requestOfNewWebhook(fixture)), body: { since: "2026-05-28T00:00:00Z" } }),
      webhook_not_found: () => ({ ...requestOfUnknownId(), body: { since: "2026-05-28T00:00:00Z" } }),
    },
    statusForOtherLocation: 404,
  },
  getRecovery: {
    requestsByOutcome: {
      200: async ({ testLocation }) => {
        const { id } = await createWebhook(testLocation);
        const { id: recoveryId } = await testLocation.create(`/v1/webhooks/${id}/recover`, {
          since: "2026-05-28T00:00:00Z",
        });
        await eventually(
          "the recovery to be done",
          async () => (await testLocation.getJson(`/v1/webhooks/${id}/recoveries/${recoveryId}`)).state === "done",
        );
        return { path: { id, recoveryId } };
      },
      webhook_not_found: () => ({ path: { id: randomUUID(), recoveryId: randomUUID() } }),
      recovery_not_found: async (fixture) => {
        const { path } = await requestOfNewWebhook(fixture);
        return { path: { ...path, recoveryId: randomUUID() } };
      },
    },
    statusForOtherLocation: 404,
  },
};
