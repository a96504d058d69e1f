import type { TagContractTestCases } from "../operation-contract.ts";

export const usageContractTestCases: TagContractTestCases = {
  listUsage: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId, granularity: "minute" } }),
    },
    statusForOtherLocation: 403,
  },
  listFailedRequests: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
};
