import { randomUUID } from "node:crypto";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import type { TestLocation } from "../../harness/test-location.ts";
import type { TagContractTestCases } from "../operation-contract.ts";

async function findNewestKeyId(testLocation: TestLocation): Promise<string> {
  const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
  return data[0]?.id ?? "";
}

export const apiKeysContractTestCases: TagContractTestCases = {
  createApiKey: {
    requestsByOutcome: {
      201: ({ testLocation, consumer }) => ({
        body: { locationId: testLocation.locationId, consumerName: consumer.name },
      }),
      location_forbidden: ({ otherLocation, consumer }) => ({
        body: { locationId: otherLocation.locationId, consumerName: consumer.name },
      }),
      location_not_found: ({ product, consumer }) => ({
        body: { locationId: randomUUID(), consumerName: consumer.name },
        key: product.adminKey,
      }),
      rate_limit_forbidden: async ({ testLocation, consumer, createKeyWithScopes }) => ({
        body: { locationId: testLocation.locationId, consumerName: consumer.name },
        key: await createKeyWithScopes(["keys:write", ...defaultApiConsumerScopes], { perSecond: 50, burst: 50 }),
      }),
      consumer_not_found: ({ testLocation }) => ({
        body: { locationId: testLocation.locationId, consumerName: randomUUID() },
      }),
    },
    untestableOutcomes: {
      limit_reached: "It takes the maximum number of active keys; the service's own tests insert them.",
    },
    statusForOtherLocation: 403,
  },
  listApiKeys: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  getCurrentApiKey: {
    requestsByOutcome: { 200: () => ({}) },
    untestableOutcomes: { key_not_found: "The key is removed from the database between its check and the response." },
    statusForOtherLocation: 200,
  },
  rotateApiKey: {
    requestsByOutcome: {
      201: async ({ createKeyWithScopes, testLocation }) => {
        await createKeyWithScopes([]);
        return { path: { id: await findNewestKeyId(testLocation) }, body: { overlapSeconds: 60 } };
      },
      key_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
      key_inactive: async ({ createKeyWithScopes, testLocation }) => {
        await createKeyWithScopes([]);
        const id = await findNewestKeyId(testLocation);
        await testLocation.request("DELETE", `/v1/auth/keys/${id}`);
        return { path: { id }, body: {} };
      },
      rate_limit_forbidden: async ({ createKeyWithScopes, testLocation }) => {
        await createKeyWithScopes([]);
        const id = await findNewestKeyId(testLocation);
        const key = await createKeyWithScopes(["keys:write"], { perSecond: 50, burst: 50 });
        return { path: { id }, body: {}, key };
      },
    },
    untestableOutcomes: {
      limit_reached: "It takes the maximum number of active keys; the service's own tests insert them.",
    },
    statusForOtherLocation: 404,
  },
  revokeApiKey: {
    requestsByOutcome: {
      204: async ({ createKeyWithScopes, testLocation }) => {
        await createKeyWithScopes([]);
        return { path: { id: await findNewestKeyId(testLocation) } };
      },
      key_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
