import { OrderV1 } from "@pragma/contracts/order-v1";
import { orderParams, replyWithOrder } from "../order-reply.ts";
import { defineRoute } from "../reporting.ts";

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
  request: { params: orderParams },
  responses: { 200: { description: "The order", schema: OrderV1 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => replyWithOrder(input, "v1"),
});
