import { pageOf } from "@pragma/contracts/pagination";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { z } from "zod";
import { listQuery, replyWithPage, replyWithRecord } from "../record-replies.ts";
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

const params = z.object({ id: z.guid().meta({ description: "Id of the report" }) });

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
  request: { params },
  responses: {
    200: { description: "The report", schema: ReportV0 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => replyWithRecord(input, { kind: "report", body: "v0" }),
});

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
  request: { params },
  responses: {
    200: { description: "The report", schema: ReportV2 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => replyWithRecord(input, { kind: "report", body: "v2" }),
});
