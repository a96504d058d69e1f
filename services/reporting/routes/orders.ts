import { OrderV1 } from "@pragma/contracts/order-v1";
import { OrderV2 } from "@pragma/contracts/order-v2";
import { pageOf } from "@pragma/contracts/pagination";
import { z } from "zod";
import { listQuery, replyWithPage, replyWithRecord } from "../record-replies.ts";
import { defineRoute } from "../reporting.ts";

export const listOrders = defineRoute({
  method: "get",
  path: "/v1/orders/",
  operationId: "listOrders",
  tag: "Orders",
  audience: "public",
  scope: "orders:read",
  summary: "List orders",
  description:
    "The orders of the location's closed shifts, newest first by when they were opened at the point of sale. Filter by day or by report. Each is whole, as `/v1/orders/{id}` gives it; orders that are still open are in the list of live orders.",
  request: {
    query: listQuery.extend({
      reportId: z.guid().optional().meta({ description: "Only the orders of this report" }),
    }),
  },
  responses: { 200: { description: "A page of orders", schema: pageOf(OrderV1) } },
  errors: ["invalid_page_token", "location_forbidden"],
  handle: (input) => replyWithPage(input, { kind: "order", body: "v1", reportId: input.query.reportId ?? null }),
});

const params = z.object({ id: z.guid().meta({ description: "Id of the order" }) });

export const getOrderV1 = defineRoute({
  method: "get",
  path: "/v1/orders/{id}",
  operationId: "getOrderV1",
  tag: "Orders",
  audience: "public",
  scope: "orders:read",
  summary: "Get an order",
  description:
    "One order of a closed shift: its items and menus, payments and tips, with discounts and taxes. Its payments and tips are the validated ones. For every row as the point of sale has it, read `/v2/orders/{id}`.",
  request: { params },
  responses: { 200: { description: "The order", schema: OrderV1 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => replyWithRecord(input, { kind: "order", body: "v1" }),
});

export const getOrderV2 = defineRoute({
  method: "get",
  path: "/v2/orders/{id}",
  operationId: "getOrderV2",
  tag: "Orders",
  audience: "public",
  scope: "orders:read",
  summary: "Get an order with every row",
  description:
    "One order of a closed shift with every field that the point of sale gave: rows of products, menus, payments, modifiers and discounts.",
  request: { params },
  responses: { 200: { description: "The order", schema: OrderV2 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => replyWithRecord(input, { kind: "order", body: "v2" }),
});
