import { randomUUID } from "node:crypto";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import type { TagContractTestCases } from "../operation-contract.ts";

export const consumersContractTestCases: TagContractTestCases = {
  createConsumer: {
    requestsByOutcome: {
      201: () => ({ body: { name: randomUUID() } }),
      consumer_exists: ({ consumer }) => ({ body: { name: consumer.name } }),
    },
    untestableOutcomes: {
      limit_reached: "It takes the maximum number of consumers; the service's own tests insert them.",
    },
    // The request succeeds, because it creates a consumer of the other location.
    statusForOtherLocation: 201,
  },
  listConsumers: { requestsByOutcome: { 200: () => ({}) }, statusForOtherLocation: 200 },
  changeConsumer: {
    requestsByOutcome: {
      200: ({ consumer }) => ({ path: { id: consumer.id }, body: { rateLimit: null } }),
      rate_limit_forbidden: async ({ consumer, createKeyWithScopes }) => ({
        path: { id: consumer.id },
        body: { rateLimit: null },
        key: await createKeyWithScopes(["consumers:write", ...defaultApiConsumerScopes], { perSecond: 50, burst: 50 }),
      }),
      consumer_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    untestableOutcomes: {
      quota_exceeded: "It takes the changes of a whole day; the service's own tests set the usage.",
    },
    statusForOtherLocation: 404,
  },
};
