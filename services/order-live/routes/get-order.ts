import { ApiError } from "@pragma/contracts/errors";
import { OrderLive } from "@pragma/contracts/order-live";
import { readableLocation } from "@pragma/runtime/own-location";
import { tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../order-live.ts";
import { findOrder } from "../queries/orders.ts";

export const getOrderRoute = defineRoute({
  method: "get",
  path: "/v1/orders-live/{id}",
  operationId: "getLiveOrder",
  tag: "Live orders",
  audience: "public",
  scope: "orders:read",
  summary: "Get a live order",
  description:
    "One order that is live, as it is now. Once its till is closed and has its report, the order is read at /v1/orders/{id} or /v2/orders/{id}.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the order" }) }) },
  responses: {
    200: { description: "The order", schema: OrderLive },
    304: { description: "The client has it already" },
  },
  errors: ["order_not_found"],
  async handle({ params: { id }, principal, services, header }) {
    const order = await findOrder(services.db.sql, { id, locationId: readableLocation(principal) });
    if (!order) throw new ApiError("order_not_found", { detail: `This location has no live order ${id}.` });
    return tagged(order.body, { etag: order.etag, ifNoneMatch: header("if-none-match") });
  },
});
