import { ApiError } from "@pragma/contracts/errors";
import { OrderV2 } from "@pragma/contracts/order-data";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { dayQueryParameter, paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { ReportV0 } from "@pragma/contracts/report-v0";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import type { RouteInput } from "@pragma/runtime/http/define-route";
import { largePageResponse } from "@pragma/runtime/http/page-response";
import { pageTokenDateSchema, pageTokenInstantSchema } from "@pragma/runtime/http/page-token";
import { conditionalJsonResponse, type RouteResponse } from "@pragma/runtime/http/route-response";
import {
  getReadableLocationId,
  locationIdQueryParam,
  resolveLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineRoute, type ReportingContext } from "../context.ts";
import type { ReportOrOrder } from "../queries/day-counts.ts";
import { findReportOrOrder, findReportOrOrderPage } from "../queries/reports-and-orders.ts";

/** The query of every list of this service. */
const reportOrOrderListQuery = z.object({
  ...paginationQueryShape,
  since: dayQueryParameter.optional(),
  until: dayQueryParameter.optional(),
  locationId: locationIdQueryParam(),
});

/** The last record of a page. */
const pagePositionSchema = z.object({ day: pageTokenDateSchema, at: pageTokenInstantSchema, id: z.guid() });

type ListRouteInput = Pick<
  RouteInput<undefined, typeof reportOrOrderListQuery, undefined, ReportingContext>,
  "query" | "principal" | "services" | "url" | "origin"
>;

/** Answers a page of a location's reports or orders, from the column that holds the wanted shape. */
async function reportOrOrderPageResponse(
  { query, principal, services, url, origin }: ListRouteInput,
  { kind, body, reportId = null }: { kind: ReportOrOrder; body: string; reportId?: string | null },
): Promise<RouteResponse> {
  const { since = null, until = null } = query;
  const filter = { locationId: resolveLocationId(principal, query.locationId), kind, since, until, reportId };
  return largePageResponse({ query, principal, url, origin }, pagePositionSchema, (range) =>
    findReportOrOrderPage(services.db, filter, { ...range, body, maxBytes: services.config.PAGE_MAX_BYTES }),
  );
}

type ReportOrOrderRouteInput = Pick<
  RouteInput<z.ZodObject<{ id: z.ZodGUID }>, undefined, undefined, ReportingContext>,
  "params" | "principal" | "services" | "header"
>;

/** Answers one report or order, from the column that holds the wanted shape; one of another location is not found. */
async function reportOrOrderResponse(
  { params: { id }, principal, services, header }: ReportOrOrderRouteInput,
  { kind, body }: { kind: ReportOrOrder; body: string },
): Promise<RouteResponse> {
  const found = await findReportOrOrder(services.db, { kind, id, locationId: getReadableLocationId(principal), body });
  if (!found) throw new ApiError(`${kind}_not_found`, { detail: `This location has no ${kind} ${id}.` });
  return conditionalJsonResponse(found.body, { etag: found.etag, ifNoneMatch: header("if-none-match") });
}

const reportRouteDefaults = { tag: "Reports", audience: "public", scope: "reports:read" } as const;

export const listReportsV2 = defineRoute({
  method: "get",
  path: "/v2/reports/",
  operationId: "listReports",
  ...reportRouteDefaults,
  summary: "List end-of-day reports",
  description:
    "The reports of the location, newest first by when the shift started, each with its total. Fetch a report by its id for everything else.",
  request: { query: reportOrOrderListQuery },
  responses: { 200: { description: "A page of reports", schema: paginatedSchema(ReportListItem) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => reportOrOrderPageResponse(input, { kind: "report", body: "list_item" }),
});

export const listReportsV0 = defineRoute({
  method: "get",
  path: "/v1/reports/",
  operationId: "listReportsV0",
  ...reportRouteDefaults,
  summary: "List end-of-day reports in their first shape",
  description:
    "The reports of the location, newest first by when the shift started, each whole, as `/v1/reports/{id}` gives it.",
  request: { query: reportOrOrderListQuery },
  responses: { 200: { description: "A page of reports", schema: paginatedSchema(ReportV0) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => reportOrOrderPageResponse(input, { kind: "report", body: "v0" }),
});

const reportParams = z.object({ id: z.guid().meta({ description: "Id of the report" }) });

export const getReportV0 = defineRoute({
  method: "get",
  path: "/v1/reports/{id}",
  operationId: "getReportV0",
  ...reportRouteDefaults,
  summary: "Get an end-of-day report in its first shape",
  description:
    "The figures of one shift under their first names, with the ids of its orders. It stays for those who read it; `/v2/reports/{id}` tells more.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report", schema: ReportV0 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => reportOrOrderResponse(input, { kind: "report", body: "v0" }),
});

export const getReportV2 = defineRoute({
  method: "get",
  path: "/v2/reports/{id}",
  operationId: "getReport",
  ...reportRouteDefaults,
  summary: "Get an end-of-day report",
  description:
    "Everything about one shift: sales by product, menu, room and tax; payments, discounts, cancellations and transfers; each clerk's figures; and its orders in short. It is there moments after its till was pushed, and changes only when the till is replaced or processed again.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report", schema: ReportV2 },
    304: { description: "The client has it already" },
  },
  errors: ["report_not_found"],
  handle: (input) => reportOrOrderResponse(input, { kind: "report", body: "v2" }),
});

const orderRouteDefaults = { tag: "Orders", audience: "public", scope: "orders:read" } as const;

export const listOrders = defineRoute({
  method: "get",
  path: "/v1/orders/",
  operationId: "listOrders",
  ...orderRouteDefaults,
  summary: "List orders",
  description:
    "The orders of the location's closed shifts, newest first by when they were opened at the point of sale. Filter by day or by report. Each is whole, as `/v1/orders/{id}` gives it; orders that are still open are in the list of live orders.",
  request: {
    query: reportOrOrderListQuery.extend({
      reportId: z.guid().optional().meta({ description: "Only the orders of this report" }),
    }),
  },
  responses: { 200: { description: "A page of orders", schema: paginatedSchema(OrderV1) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) =>
    reportOrOrderPageResponse(input, { kind: "order", body: "v1", reportId: input.query.reportId ?? null }),
});

const orderParams = z.object({ id: z.guid().meta({ description: "Id of the order" }) });

export const getOrderV1 = defineRoute({
  method: "get",
  path: "/v1/orders/{id}",
  operationId: "getOrderV1",
  ...orderRouteDefaults,
  summary: "Get an order",
  description:
    "One order of a closed shift: its items and menus, payments and tips, with discounts and taxes. Its payments and tips are the validated ones. For every row as the point of sale has it, read `/v2/orders/{id}`.",
  request: { params: orderParams },
  responses: { 200: { description: "The order", schema: OrderV1 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => reportOrOrderResponse(input, { kind: "order", body: "v1" }),
});

export const getOrderV2 = defineRoute({
  method: "get",
  path: "/v2/orders/{id}",
  operationId: "getOrderV2",
  ...orderRouteDefaults,
  summary: "Get an order with every row",
  description:
    "One order of a closed shift with every field that the point of sale gave: rows of products, menus, payments, modifiers and discounts.",
  request: { params: orderParams },
  responses: { 200: { description: "The order", schema: OrderV2 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => reportOrOrderResponse(input, { kind: "order", body: "v2" }),
});
