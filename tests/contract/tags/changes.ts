import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

export const changesContractTestCases: TagContractTestCases = {
  listChanges: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }),
      invalid_cursor: () => ({ query: { after: "x" } }),
      location_forbidden: ({ otherLocation }) => ({ query: { locationId: otherLocation.locationId } }),
      location_not_found: ({ product }) => ({ query: { locationId: randomUUID() }, key: product.adminKey }),
      // Nothing changes in the other location, so that the requests wait until their time ends or the product stops.
      too_many_waiting_requests: async ({ product, testLocation, otherLocation: { locationId } }) => {
        const key = product.adminKey;
        const path = `/v1/changes/?locationId=${locationId}&after=now&wait=25`;
        // One more than the limit, of which one is rejected at once.
        const requests = Array.from({ length: 11 }, () => testLocation.request("GET", path, { key }));
        await Promise.race(requests);
        return { query: { locationId, after: "now", wait: "1" }, key };
      },
    },
    statusForOtherLocation: 403,
  },
};
