import { ReportV2 } from "@pragma/contracts/report-v2";
import { replyWithReport, reportParams } from "../report-reply.ts";
import { defineRoute } from "../reporting.ts";

export const getReportV2 = defineRoute({
  method: "get",
  path: "/v2/reports/{id}",
  operationId: "getReport",
  tag: "Reports",
  audience: "public",
  scope: "reports:read",
  summary: "Get an end-of-day report",
  description:
    "Everything about one shift: sales by product, menu, room and tax; payments, discounts, cancellations and transfers; each clerk's figures; and its orders in short. It is there moments after its till was pushed, and changes only when the till is replaced or processed again.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report", schema: ReportV2 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => replyWithReport(input, "v2"),
});
