import { randomUUID } from "node:crypto";
import type { TagContract } from "../operation-contract.ts";

const listReportsContract: TagContract[string] = {
  requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
  statusForOtherLocation: 403,
};
const getReportContract: TagContract[string] = {
  requestsByOutcome: {
    200: ({ reportId }) => ({ path: { id: reportId } }),
    report_not_found: () => ({ path: { id: randomUUID() } }),
  },
  statusForOtherLocation: 404,
};

export const reportsContract: TagContract = {
  listReports: listReportsContract,
  listReportsV0: listReportsContract,
  getReport: getReportContract,
  getReportV0: getReportContract,
};
