import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";
import { newLiveOrder } from "../live-order.ts";

export const liveOrders: TagContract = {
  upsertLiveOrders: {
    answers: {
      200: ({ shop }) => ({ query: { locationId: shop.locationId }, body: [newLiveOrder()] }),
      204: async ({ shop }) => {
        const body = Array.from({ length: 50 }, () => newLiveOrder());
        const ask = { body, headers: { "idempotency-key": randomUUID() } };
        await shop.ask("POST", "/v1/orders-live", ask);
        return ask;
      },
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: [newLiveOrder()],
        key: product.adminKey,
      }),
    },
    stranger: 403,
    unreachable: {
      quota_exceeded: "It takes what a location may send in a day; the service's own tests set a lower quota.",
    },
  },
  listLiveOrders: {
    answers: { 200: ({ shop, liveOrder }) => ({ query: { locationId: shop.locationId, tillId: liveOrder.tillId } }) },
    stranger: 403,
  },
  streamLiveOrders: {
    answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
    stranger: 403,
    unreachable: {
      too_many_streams: "It takes 500 open streams; the hub's own tests open them.",
      internal_error: "It has begun by then, and ends with an event that says so.",
    },
  },
  getLiveOrder: {
    answers: {
      200: ({ liveOrder }) => ({ path: { id: liveOrder.id } }),
      order_not_found: () => ({ path: { id: randomUUID() } }),
    },
    stranger: 404,
  },
};
