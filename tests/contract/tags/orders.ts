import { randomUUID } from "node:crypto";
import type { TagApiContract } from "../operation-contract.ts";

const getOrderContract: TagApiContract[string] = {
  requestsByOutcome: {
    200: ({ orderId }) => ({ path: { id: orderId } }),
    order_not_found: () => ({ path: { id: randomUUID() } }),
  },
  statusForOtherLocation: 404,
};

export const ordersApiContract: TagApiContract = {
  listOrders: {
    requestsByOutcome: {
      200: ({ testLocation, reportId }) => ({ query: { locationId: testLocation.locationId, reportId } }),
    },
    statusForOtherLocation: 403,
  },
  getOrderV1: getOrderContract,
  getOrderV2: getOrderContract,
};
