import { randomUUID } from "node:crypto";
import { createLiveOrderInput } from "../live-order-input.ts";
import type { TagContract } from "../operation-contract.ts";

export const liveOrdersContract: TagContract = {
  upsertLiveOrders: {
    requestsByOutcome: {
      200: ({ shop }) => ({ query: { locationId: shop.locationId }, body: [createLiveOrderInput()] }),
      204: async ({ shop }) => {
        const body = Array.from({ length: 50 }, () => createLiveOrderInput());
        const ask = { body, headers: { "idempotency-key": randomUUID() } };
        await shop.request("POST", "/v1/orders-live", ask);
        return ask;
      },
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: [createLiveOrderInput()],
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  listLiveOrders: {
    requestsByOutcome: {
      200: ({ shop, liveOrder }) => ({ query: { locationId: shop.locationId, tillId: liveOrder.tillId } }),
    },
    statusForOtherLocation: 403,
  },
  streamLiveOrders: {
    requestsByOutcome: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      too_many_streams: "It takes 500 open streams; the hub's own tests open them.",
      internal_error: "It has begun by then, and ends with an event that says so.",
    },
  },
  getLiveOrder: {
    requestsByOutcome: {
      200: ({ liveOrder }) => ({ path: { id: liveOrder.id } }),
      order_not_found: () => ({ path: { id: randomUUID() } }),
    },
    statusForOtherLocation: 404,
  },
};
