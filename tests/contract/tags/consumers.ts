import { randomUUID } from "node:crypto";
import { defaultScopes } from "@pragma/contracts/scopes";
import type { TagContract } from "../contract.ts";

export const consumers: TagContract = {
  createConsumer: {
    answers: {
      201: () => ({ body: { name: randomUUID() } }),
      consumer_exists: ({ consumer }) => ({ body: { name: consumer.name } }),
    },
    // Of whichever location, a key makes consumers for its own.
    stranger: 201,
  },
  listConsumers: { answers: { 200: () => ({}) }, stranger: 200 },
  changeConsumer: {
    answers: {
      200: ({ consumer }) => ({ path: { id: consumer.id }, body: { rateLimit: null } }),
      rate_limit_forbidden: async ({ consumer, keyWith }) => ({
        path: { id: consumer.id },
        body: { rateLimit: null },
        key: await keyWith(["consumers:write", ...defaultScopes], { perSecond: 50, burst: 50 }),
      }),
      consumer_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    stranger: 404,
  },
};
