import { randomUUID } from "node:crypto";
import type { TagApiContract } from "../operation-contract.ts";

const listReportsContract: TagApiContract[string] = {
  requestsByOutcome: { 200: ({ testLocation }) => ({ query: { locationId: testLocation.locationId } }) },
  statusForOtherLocation: 403,
};
const getReportContract: TagApiContract[string] = {
  requestsByOutcome: {
    200: ({ reportId }) => ({ path: { id: reportId } }),
    report_not_found: () => ({ path: { id: randomUUID() } }),
  },
  statusForOtherLocation: 404,
};

export const reportsApiContract: TagApiContract = {
  listReports: listReportsContract,
  listReportsV0: listReportsContract,
  getReport: getReportContract,
  getReportV0: getReportContract,
};
