import type { TagContractTestCases } from "../operation-contract.ts";

export const daysContractTestCases: TagContractTestCases = {
  listDays: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  getDay: {
    requestsByOutcome: {
      200: ({ testLocation, till }) => ({
        path: { date: till.startedAt.slice(0, 10) },
        query: { locationId: testLocation.locationId },
      }),
      day_not_found: () => ({ path: { date: "2020-02-01" } }),
    },
    statusForOtherLocation: 403,
  },
};
