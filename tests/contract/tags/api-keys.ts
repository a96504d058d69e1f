import { randomUUID } from "node:crypto";
import { defaultConsumerScopes } from "@pragma/contracts/scopes";
import type { TagContract } from "../operation-contract.ts";

export const apiKeysContract: TagContract = {
  createApiKey: {
    requestsByOutcome: {
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
        key: await keyWith(["keys:write", ...defaultConsumerScopes], { perSecond: 50, burst: 50 }),
      }),
      consumer_not_found: ({ shop }) => ({ body: { locationId: shop.locationId, consumerName: randomUUID() } }),
    },
    statusForOtherLocation: 403,
  },
  listApiKeys: {
    requestsByOutcome: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
  },
  revokeApiKey: {
    requestsByOutcome: {
      204: async ({ keyWith, shop }) => {
        await keyWith([]);
        const { data } = await shop.getJson<{ data: { id: string }[] }>("/v1/auth/keys?size=1");
        return { path: { id: data[0]?.id ?? "" } };
      },
      key_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
