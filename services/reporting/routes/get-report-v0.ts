import { ReportV0 } from "@pragma/contracts/report-v0";
import { replyWithReport, reportParams } from "../report-reply.ts";
import { defineRoute } from "../reporting.ts";

export const getReportV0 = defineRoute({
  method: "get",
  path: "/v1/reports/{id}",
  operationId: "getReportV0",
  tag: "Reports",
  audience: "public",
  scope: "reports:read",
  summary: "Get a report in the V0 shape",
  description: "The figures of one shift under the names of the V0 shape, with the ids of its orders.",
  request: { params: reportParams },
  responses: { 200: { description: "The report", schema: ReportV0 } },
  errors: ["report_not_found"],
  handle: (input) => replyWithReport(input, "v0"),
});
