import { OrderV1 } from "@pragma/contracts/order-v1";
import { pageOf } from "@pragma/contracts/pagination";
import { z } from "zod";
import { listQuery, replyWithPage } from "../list-query.ts";
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
