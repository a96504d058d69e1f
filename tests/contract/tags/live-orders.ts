import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";
import { createTestLiveOrderInput } from "../order-and-till-inputs.ts";

export const liveOrdersContractTestCases: TagContractTestCases = {
  upsertLiveOrders: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({
        query: { locationId: testLocation.locationId },
        body: [createTestLiveOrderInput()],
      }),
      204: async ({ testLocation }) => {
        const body = Array.from({ length: 50 }, () => createTestLiveOrderInput());
        const operationRequest = { body, headers: { "idempotency-key": randomUUID() } };
        await testLocation.request("POST", "/v1/orders-live", operationRequest);
        return operationRequest;
      },
      location_not_found: ({ product }) => ({
        query: { locationId: randomUUID() },
        body: [createTestLiveOrderInput()],
        key: product.adminKey,
      }),
    },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      quota_exceeded: "It takes the bytes of a whole day; the service's own tests set a lower quota.",
    },
  },
  listLiveOrders: {
    requestsByOutcome: {
      200: ({ testLocation, liveOrder }) => ({
        query: { locationId: testLocation.locationId, tillId: liveOrder.tillId },
      }),
    },
    statusForOtherLocation: 403,
  },
  streamLiveOrders: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
    untestableOutcomes: {
      too_many_streams: "It takes 500 open streams; the service's own tests open them.",
      internal_error: "The response has begun by then; the stream ends with an error event.",
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
