import type { TagContractTestCases } from "../operation-contract.ts";

export const auditLogContractTestCases: TagContractTestCases = {
  listAuditEvents: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
  exportAuditEvents: {
    requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
    statusForOtherLocation: 403,
  },
};
