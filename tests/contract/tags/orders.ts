import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

const one: TagContract[string] = {
  answers: {
    200: ({ orderId }) => ({ path: { id: orderId } }),
    order_not_found: () => ({ path: { id: randomUUID() } }),
  },
  stranger: 404,
};

export const orders: TagContract = {
  listOrders: {
    answers: { 200: ({ shop, reportId }) => ({ query: { locationId: shop.locationId, reportId } }) },
    stranger: 403,
  },
  getOrderV1: one,
  getOrderV2: one,
};
