import { randomUUID } from "node:crypto";
import type { TagContract } from "../contract.ts";

const list: TagContract[string] = {
  answers: { 200: ({ shop }) => ({ query: { locationId: shop.locationId } }) },
  stranger: 403,
};
const one: TagContract[string] = {
  answers: {
    200: ({ reportId }) => ({ path: { id: reportId } }),
    report_not_found: () => ({ path: { id: randomUUID() } }),
  },
  stranger: 404,
};

export const reports: TagContract = { listReports: list, listReportsV0: list, getReport: one, getReportV0: one };
