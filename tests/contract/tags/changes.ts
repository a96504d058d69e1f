import { randomUUID } from "node:crypto";
import { eventually } from "@pragma/runtime/testing/eventually";
import type { TagContractTestCases } from "../operation-contract.ts";

export const changesContractTestCases: TagContractTestCases = {
  listChanges: {
    requestsByOutcome: {
      200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }),
      invalid_cursor: () => ({ query: { after: "x" } }),
      location_forbidden: ({ otherLocation }) => ({ query: { locationId: otherLocation.locationId } }),
      location_not_found: ({ product }) => ({ query: { locationId: randomUUID() }, key: product.adminKey }),
      too_many_waiting_requests: async ({ createKeyWithScopes, testLocation }) => {
        const key = await createKeyWithScopes(["reports:read"]);
        const path = "/v1/changes/?after=now&wait=5";
        const waiting = Array.from({ length: 10 }, () => testLocation.request("GET", path, { key }));
        await eventually("the limit", async () => (await testLocation.request("GET", path, { key })).status === 429);
        void Promise.all(waiting);
        return { query: { after: "now", wait: "1" }, key };
      },
    },
    statusForOtherLocation: 403,
  },
};
