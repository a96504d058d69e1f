import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

export const consumers: TagContract = {
  createConsumer: {
    answers: {
      201: () => ({ body: { name: randomUUID() } }),
      consumer_exists: ({ consumerName }) => ({ body: { name: consumerName } }),
    },
    // Of whichever location, a key makes consumers for its own.
    stranger: 201,
  },
  listConsumers: { answers: { 200: () => ({}) }, stranger: 200 },
  changeConsumer: {
    answers: {
      200: ({ shop }) => ({ path: { id: shop.consumerId }, body: { rateLimit: null } }),
      location_forbidden: ({ other }) => ({ path: { id: other.consumerId }, body: { rateLimit: null } }),
      consumer_not_found: () => ({ path: { id: randomUUID() }, body: {} }),
    },
    stranger: 403,
  },
};
