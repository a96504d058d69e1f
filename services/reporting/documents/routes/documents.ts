import { ApiError } from "@pragma/contracts/errors";
import { OrderV2 } from "@pragma/contracts/order-data";
import { OrderV1 } from "@pragma/contracts/order-v1";
import {
  checkSinceIsNotAfterUntil,
  dayQueryParameter,
  paginatedSchema,
  paginationQueryShape,
} from "@pragma/contracts/pagination";
import { ReportV0, ReportV0ListItem } from "@pragma/contracts/report-v0";
import { ReportListItem, ReportV2 } from "@pragma/contracts/report-v2";
import { minLargeResponseBytes } from "@pragma/runtime/admission/large-response-limiter";
import type { Database } from "@pragma/runtime/database/postgres";
import type { RouteHandlerInput } from "@pragma/runtime/http/define-route";
import { createPageResponse } from "@pragma/runtime/http/page-response";
import { pageTokenDateSchema, pageTokenInstantSchema } from "@pragma/runtime/http/page-token";
import {
  createConditionalJsonResponse,
  createNotModifiedResponse,
  type RouteHandlerResponse,
} from "@pragma/runtime/http/route-response";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute, type ReportingContext } from "../../context.ts";
import type { DocumentKind } from "../queries/day-counts.ts";
import { findDocumentBody } from "../queries/document-body.ts";
import { findDocumentPage } from "../queries/document-pages.ts";

export const dayParameter = (description: string) =>
  dayQueryParameter.optional().meta({ ...dayQueryParameter.meta(), description });

const reportOrOrderListShape = {
  ...paginationQueryShape,
  since: dayParameter("First day to include, as YYYY-MM-DD in the location's time zone"),
  until: dayParameter("Last day to include, as YYYY-MM-DD in the location's time zone"),
  locationId: locationIdQueryParameter(),
};

const reportListQuery = z
  .object({
    ...reportOrOrderListShape,
    tillId: z.guid().optional().meta({
      description: "ID of the till whose report is returned. By default, the reports of all tills are returned.",
    }),
  })
  .check(checkSinceIsNotAfterUntil);

const orderListQuery = z
  .object({
    ...reportOrOrderListShape,
    reportId: z.guid().optional().meta({
      description: "ID of the report whose orders are returned. By default, the orders of all reports are returned.",
    }),
  })
  .check(checkSinceIsNotAfterUntil);

const pagePositionSchema = z.object({ day: pageTokenDateSchema, at: pageTokenInstantSchema, id: z.guid() });

type ListQuery = z.output<z.ZodObject<typeof reportOrOrderListShape>> & {
  reportId?: string | undefined;
  tillId?: string | undefined;
};

type ListRouteInput = Pick<
  RouteHandlerInput<undefined, undefined, undefined, ReportingContext>,
  "principal" | "services" | "url" | "origin"
> & { query: ListQuery };

async function documentPageResponse(
  { query, principal, services, url, origin }: ListRouteInput,
  { kind, body }: { kind: DocumentKind; body: string },
): Promise<RouteHandlerResponse> {
  const { since = null, until = null, reportId = null, tillId = null } = query;
  const locationId = resolveAuthorizedLocationId(principal, query.locationId);
  const filter = { locationId, kind, since, until, reportId, tillId };
  return createPageResponse({ query, locationId, principal, url, origin }, pagePositionSchema, (range) =>
    services.db.read(locationId, ({ sql }) => {
      const pageRange = { ...range, body, maxBytes: services.config.PAGE_MAX_BYTES };
      return findDocumentPage({ sql, objects: services.objects }, filter, pageRange);
    }),
  );
}

type DocumentRouteInput = Pick<
  RouteHandlerInput<z.ZodObject<{ id: z.ZodGUID }>, undefined, undefined, ReportingContext>,
  "params" | "principal" | "services" | "header" | "readResponseBody"
>;

/** @throws `ApiError` report_not_found or order_not_found, also for a report or order of another location. */
async function documentResponse(
  { params: { id }, principal, services, header, readResponseBody }: DocumentRouteInput,
  { kind, body }: { kind: DocumentKind; body: string },
): Promise<RouteHandlerResponse> {
  const locationId = getReadRestrictionLocationId(principal);
  const ifNoneMatch = header("if-none-match");
  const stored = await readResponseBody(async (maxBytes) => {
    const requested = { kind, id, locationId, body, maxBytes };
    const find = ({ sql }: Pick<Database, "sql">) => findDocumentBody({ sql, objects: services.objects }, requested);
    // A large body would keep others waiting on the connections of lookups.
    const isLarge = maxBytes > minLargeResponseBytes;
    const found = await (isLarge ? services.db.read(locationId, find) : services.db.lookUp(locationId, find));
    const isUnchanged = found && createNotModifiedResponse({ etag: found.etag, ifNoneMatch });
    return isUnchanged ? { ...found, omittedBytes: undefined } : found;
  });
  if (!stored)
    throw new ApiError(`${kind}_not_found`, { detail: `This location has no ${kind} ${id}.${notFoundHints[kind]}` });
  return createConditionalJsonResponse(stored.body ?? "", { etag: stored.etag, ifNoneMatch });
}

const notFoundHints: Record<DocumentKind, string> = {
  report: " If you have just pushed its till, get the till until its `reportState` is `done`.",
  order: "",
};

const reportRouteDefaults = { tag: "Reports", audience: "public", scope: "reports:read" } as const;

export const listReportsV2Route = defineReportingRoute({
  method: "get",
  path: "/v2/reports/",
  operationId: "listReports",
  ...reportRouteDefaults,
  summary: "List reports",
  description:
    "Returns the location's reports with their total sales, most recent shift first. You can filter them by the day on which the shift began, or by till. For all other figures, get a report by its ID.",
  request: { query: reportListQuery },
  responses: {
    200: {
      description: "A page of reports with their total sales, most recent shift first",
      schema: paginatedSchema(ReportListItem),
    },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => documentPageResponse(input, { kind: "report", body: "list_item" }),
});

export const listReportsV0Route = defineReportingRoute({
  method: "get",
  path: "/v1/reports/",
  operationId: "listReportsV0",
  ...reportRouteDefaults,
  summary: "List reports (v1, legacy)",
  description:
    "Returns the location's reports, most recent shift first. You can filter them by the day on which the shift began, or by till. Each report has the same fields as in the response to `GET /v1/reports/{id}`, and `tillId`.",
  request: { query: reportListQuery },
  responses: {
    200: {
      description: "A page of reports in the V1 format, most recent shift first",
      schema: paginatedSchema(ReportV0ListItem),
    },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => documentPageResponse(input, { kind: "report", body: "v0" }),
});

const reportParams = z.object({ id: z.guid().meta({ description: "ID of the report" }) });

export const getReportV0Route = defineReportingRoute({
  method: "get",
  path: "/v1/reports/{id}",
  operationId: "getReportV0",
  ...reportRouteDefaults,
  isLookup: true,
  summary: "Get a report (v1, legacy)",
  description:
    "Returns the end-of-day report of one shift in the V1 format, with the IDs of its orders. This version is for existing clients. `GET /v2/reports/{id}` returns more figures.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report in the V1 format", schema: ReportV0 },
    304: { description: "The client's cached response is current" },
  },
  errors: ["report_not_found"],
  handle: (input) => documentResponse(input, { kind: "report", body: "v0" }),
});

export const getReportV2Route = defineReportingRoute({
  method: "get",
  path: "/v2/reports/{id}",
  operationId: "getReport",
  ...reportRouteDefaults,
  isLookup: true,
  summary: "Get a report",
  description:
    "Returns the end-of-day report of one shift: sales by product, menu, modifier, room and tax; payments, discounts, cancellations, transfers and financial movements; the figures for each clerk; and a summary of each order. The API computes the report in the background, so it is available a few seconds after its till is pushed. The report changes only if its till is replaced or reprocessed, or if personal data is erased from the till.",
  request: { params: reportParams },
  responses: {
    200: { description: "The report, with all its figures", schema: ReportV2 },
    304: { description: "The client's cached response is current" },
  },
  errors: ["report_not_found"],
  handle: (input) => documentResponse(input, { kind: "report", body: "v2" }),
});

const orderRouteDefaults = { tag: "Orders", audience: "public", scope: "orders:read" } as const;

export const listOrdersRoute = defineReportingRoute({
  method: "get",
  path: "/v1/orders/",
  operationId: "listOrders",
  ...orderRouteDefaults,
  summary: "List orders",
  description:
    "Returns the orders of the location's closed shifts, most recently opened first. You can filter them by report, or by the day on which they were opened. Each order has the same fields as in the response to `GET /v1/orders/{id}`. For orders of shifts that are not closed yet, list the live orders. Orders in training mode are not included in either list.",
  request: { query: orderListQuery },
  responses: { 200: { description: "A page of orders, most recently opened first", schema: paginatedSchema(OrderV1) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => documentPageResponse(input, { kind: "order", body: "v1" }),
});

const orderParams = z.object({ id: z.guid().meta({ description: "ID of the order" }) });

export const getOrderV1Route = defineReportingRoute({
  method: "get",
  path: "/v1/orders/{id}",
  operationId: "getOrderV1",
  ...orderRouteDefaults,
  isLookup: true,
  summary: "Get an order",
  description:
    "Returns one order of a closed shift: products, menus, payments and tips, with discounts and taxes. Payments, tips and discounts that are not validated are omitted. `GET /v2/orders/{id}` returns all rows from the point of sale.",
  request: { params: orderParams },
  responses: {
    200: { description: "The order in the V1 format", schema: OrderV1 },
    304: { description: "The client's cached response is current" },
  },
  errors: ["order_not_found"],
  handle: (input) => documentResponse(input, { kind: "order", body: "v1" }),
});

export const getOrderV2Route = defineReportingRoute({
  method: "get",
  path: "/v2/orders/{id}",
  operationId: "getOrderV2",
  ...orderRouteDefaults,
  isLookup: true,
  summary: "Get an order with all rows",
  description:
    "Returns one order of a closed shift with all fields from the point of sale, including the rows of products, menus, payments, modifiers and discounts.",
  request: { params: orderParams },
  responses: {
    200: { description: "The order, with all its rows", schema: OrderV2 },
    304: { description: "The client's cached response is current" },
  },
  errors: ["order_not_found"],
  handle: (input) => documentResponse(input, { kind: "order", body: "v2" }),
});
