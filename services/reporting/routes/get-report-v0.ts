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
  summary: "Get an end-of-day report in its first shape",
  description:
    "The figures of one shift under their first names, with the ids of its orders. It stays for those who read it; `/v2/reports/{id}` tells more.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report", schema: ReportV0 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => replyWithReport(input, "v0"),
});
