import { OrderV2 } from "@pragma/contracts/order-v2";
import { orderParams, replyWithOrder } from "../order-reply.ts";
import { defineRoute } from "../reporting.ts";

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
  request: { params: orderParams },
  responses: { 200: { description: "The order", schema: OrderV2 }, 304: { description: "The client has it already" } },
  errors: ["order_not_found"],
  handle: (input) => replyWithOrder(input, "v2"),
});
