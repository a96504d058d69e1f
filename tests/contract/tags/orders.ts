import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

const getOrderContract: TagContractTestCases[string] = {
  requestsByOutcome: {
    200: ({ orderId }) => ({ path: { id: orderId } }),
    order_not_found: () => ({ path: { id: randomUUID() } }),
  },
  statusForOtherLocation: 404,
};

export const ordersContractTestCases: TagContractTestCases = {
  listOrders: {
    requestsByOutcome: {
      200: ({ testLocation, reportId }) => ({ query: { locationId: testLocation.locationId, reportId } }),
    },
    statusForOtherLocation: 403,
  },
  getOrderV1: getOrderContract,
  getOrderV2: getOrderContract,
};
