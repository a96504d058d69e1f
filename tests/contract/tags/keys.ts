import { randomUUID } from "node:crypto";
import { defaultScopes } from "@pragma/contracts/scopes";
import type { TagContract } from "../contract.ts";

export const keys: TagContract = {
  createApiKey: {
    answers: {
      201: ({ shop, consumer }) => ({ body: { locationId: shop.locationId, consumerName: consumer.name } }),
      location_forbidden: ({ other, consumer }) => ({
        body: { locationId: other.locationId, consumerName: consumer.name },
      }),
      location_not_found: ({ product, consumer }) => ({
        body: { locationId: randomUUID(), consumerName: consumer.name },
        key: product.adminKey,
      }),
      rate_limit_forbidden: async ({ shop, consumer, keyWith }) => ({
        body: { locationId: shop.locationId, consumerName: consumer.name },
        key: await keyWith(["keys:write", ...defaultScopes], { perSecond: 50, burst: 50 }),
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
