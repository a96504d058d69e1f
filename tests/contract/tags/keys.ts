import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

export const keys: TagContract = {
  createApiKey: {
    answers: {
      201: ({ shop, consumerName }) => ({ body: { locationId: shop.locationId, consumerName } }),
      location_forbidden: ({ other, consumerName }) => ({ body: { locationId: other.locationId, consumerName } }),
      location_not_found: ({ product, consumerName }) => ({
        body: { locationId: randomUUID(), consumerName },
        key: product.adminKey,
      }),
      consumer_not_found: ({ shop }) => ({ body: { locationId: shop.locationId, consumerName: randomUUID() } }),
    },
    stranger: 403,
  },
  listApiKeys: {
    answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    stranger: 403,
  },
  revokeApiKey: {
    answers: {
      204: async ({ keyWith, shop }) => {
        await keyWith([]);
        const { data } = await shop.read<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
        return { path: { id: data[0]?.id ?? "" } };
      },
      key_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
};
