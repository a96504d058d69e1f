import { randomUUID } from "node:crypto";
import { defaultConsumerScopes } from "@pragma/contracts/scopes";
import type { TagContract } from "../operation-contract.ts";

export const consumersContract: TagContract = {
  createConsumer: {
    requestsByOutcome: {
      201: () => ({ body: { name: randomUUID() } }),
      consumer_exists: ({ consumer }) => ({ body: { name: consumer.name } }),
    },
    // Of whichever location, a key makes consumers for its own.
    statusForOtherLocation: 201,
  },
  listConsumers: { requestsByOutcome: { 200: () => ({}) }, statusForOtherLocation: 200 },
  changeConsumer: {
    requestsByOutcome: {
      200: ({ consumer }) => ({ path: { id: consumer.id }, body: { rateLimit: null } }),
      rate_limit_forbidden: async ({ consumer, keyWith }) => ({
        path: { id: consumer.id },
        body: { rateLimit: null },
        key: await keyWith(["consumers:write", ...defaultConsumerScopes], { perSecond: 50, burst: 50 }),
      }),
      consumer_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    statusForOtherLocation: 404,
  },
};
