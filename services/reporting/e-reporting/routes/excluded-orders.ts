import { ApiError } from "@pragma/contracts/errors";
import { ExcludedOrder, ExcludeOrdersRequest, NewlyExcludedOrders } from "@pragma/contracts/excluded-order";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { locationIdQueryParameter, resolveAuthorizedLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineReportingRoute } from "../../context.ts";
import { excludeOrders, includeOrder } from "../exclude-orders.ts";
import { eReportingRouteDefaults } from "./declarants.ts";

export const excludeOrdersRoute = defineReportingRoute({
  method: "post",
  path: "/v1/e-reporting/excluded-orders/",
  operationId: "excludeOrders",
  ...eReportingRouteDefaults,
  summary: "Exclude orders from e-reports",
  description:
    "Leaves out orders with an invoice to a company, because they are no sales to private customers. An order can be excluded before its till arrives. A period that was taken becomes `changed`.",
  request: { body: createValidatingJsonBodyParser(ExcludeOrdersRequest) },
  responses: {
    200: { description: "The orders are excluded", schema: NewlyExcludedOrders },
  },
  errors: ["limit_reached", "location_forbidden"],
  async handle({ body, principal, services, audit }) {
    const locationId = resolveAuthorizedLocationId(principal, body.locationId);
    const orderIds = [...new Set(body.orderIds.map((id) => id.toLowerCase()))];
    const { inserted, unknown } = await services.db.transaction(async (tx) => {
      const result = await excludeOrders(services, tx, { locationId, orderIds });
      const { inserted } = result;
      if (inserted.length === 0) return result;
      await publishAuditEvent(tx, audit, {
        ...{ action: "e_report_orders.excluded", locationId, target: { type: "location", id: locationId } },
        details: { orders: inserted.length, orderIds: inserted.slice(0, 100) },
      });
      return result;
    });
    return jsonResponse(200, { newlyExcludedOrderIds: inserted, unknownOrderIds: unknown });
  },
});

export const listExcludedOrdersRoute = defineReportingRoute({
  method: "get",
  path: "/v1/e-reporting/excluded-orders/",
  operationId: "listExcludedOrders",
  ...eReportingRouteDefaults,
  summary: "List excluded orders",
  description: "Returns the orders of a location that e-reports leave out, latest first.",
  request: { query: z.object({ ...paginationQueryShape, locationId: locationIdQueryParameter() }) },
  responses: { 200: { description: "A page of orders", schema: paginatedSchema(ExcludedOrder) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const { sql } = db;
    interface Row {
      id: string;
      createdAt: Date;
      locationId: string;
    }
    return queryNewestRowsPageResponse<Row>({ query, locationId, principal, url, origin }, sql, {
      columns: sql`order_id as id, excluded_at as created_at, location_id`,
      table: sql`(select order_id as id, excluded_at as created_at, order_id, excluded_at, location_id from e_excluded_orders) as excluded`,
      where: sql`location_id = ${locationId}`,
      toItem: ({ id, createdAt, ...row }) => ({ ...row, orderId: id, excludedAt: createdAt }),
    });
  },
});

export const includeOrderRoute = defineReportingRoute({
  method: "delete",
  path: "/v1/e-reporting/excluded-orders/{orderId}",
  operationId: "deleteExcludedOrder",
  ...eReportingRouteDefaults,
  summary: "Include an excluded order again",
  description: "Ends the exclusion of an order.",
  request: {
    params: z.object({ orderId: z.guid().meta({ description: "ID of the order" }) }),
    query: z.object({ locationId: locationIdQueryParameter() }),
  },
  responses: { 204: { description: "The order is included again" } },
  errors: ["location_forbidden", "order_not_found"],
  async handle({ params, query, principal, services, audit }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const orderId = params.orderId.toLowerCase();
    await services.db.transaction(async (tx) => {
      if (!(await includeOrder(services, tx, { locationId, orderId })))
        throw new ApiError("order_not_found", { detail: "This order is not excluded." });
      await publishAuditEvent(tx, audit, {
        ...{ action: "e_report_orders.included", locationId, target: { type: "location", id: locationId } },
        details: { orderIds: [orderId] },
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});
