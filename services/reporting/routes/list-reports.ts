import { pageOf } from "@pragma/contracts/pagination";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem } from "@pragma/contracts/report-v2";
import { listQuery, replyWithPage } from "../list-query.ts";
import { defineRoute } from "../reporting.ts";

export const listReportsV2 = defineRoute({
  method: "get",
  path: "/v2/reports/",
  operationId: "listReports",
  tag: "Reports",
  audience: "public",
  scope: "reports:read",
  summary: "List end-of-day reports",
  description:
    "The reports of the location, newest first by when the shift started, each with its total. Fetch a report by its id for everything else.",
  request: { query: listQuery },
  responses: { 200: { description: "A page of reports", schema: pageOf(ReportListItem) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => replyWithPage(input, { kind: "report", body: "list_item" }),
});

export const listReportsV0 = defineRoute({
  method: "get",
  path: "/v1/reports/",
  operationId: "listReportsV0",
  tag: "Reports",
  audience: "public",
  scope: "reports:read",
  summary: "List end-of-day reports in their first shape",
  description:
    "The reports of the location, newest first by when the shift started, each whole, as `/v1/reports/{id}` gives it.",
  request: { query: listQuery },
  responses: { 200: { description: "A page of reports", schema: pageOf(ReportV0) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => replyWithPage(input, { kind: "report", body: "v0" }),
});
