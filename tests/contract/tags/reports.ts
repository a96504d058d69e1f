import { randomUUID } from "node:crypto";
import type { TagContractTestCases } from "../operation-contract.ts";

const listReportsContract: TagContractTestCases[string] = {
  requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
  statusForOtherLocation: 403,
};
const getReportContract: TagContractTestCases[string] = {
  requestsByOutcome: {
    200: ({ reportId }) => ({ path: { id: reportId } }),
    report_not_found: () => ({ path: { id: randomUUID() } }),
  },
  statusForOtherLocation: 404,
};

export const reportsContractTestCases: TagContractTestCases = {
  listReports: listReportsContract,
  listReportsV0: listReportsContract,
  getReport: getReportContract,
  getReportV0: getReportContract,
};
