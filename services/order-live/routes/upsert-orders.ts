import { OrderLive } from "@pragma/contracts/order-live";
import { listOf } from "@pragma/runtime/join-json";
import { namedLocation } from "@pragma/runtime/locations";
import { text } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../order-live.ts";
import { ordersBody } from "../orders-body.ts";
import { upsertOrders } from "../upsert-orders.ts";

export const upsertOrdersRoute = defineRoute({
  method: "post",
  path: "/v1/orders-live/",
  operationId: "upsertLiveOrders",
  tag: "Live orders",
  audience: "public",
  scope: "orders:write",
  summary: "Send open orders",
  description:
    "Takes 1 to 50 orders as they are now: those that are not known are new, the others change. All of them, or, when one has a fault, none. " +
    "The reply holds the orders that were taken. Skipped are: an order whose `revisionHash` is the known one; one whose `data.modifiedAt` is before the known one; and late ones, whose till is closed and has its report. " +
    "So a call whose answer was lost can be repeated.\n\n" +
    "Each order that is taken gives at most one event: `order.canceled` when it becomes canceled, else `order.transferred` when it becomes transferred, else `order.paid` when it becomes paid. " +
    "An order that is open (not paid, canceled, transferred nor manually closed) gives `order.call` when it is new, was closed before, or has other products or menus than before. " +
    "Orders made in school mode (`data.isTraining`) are kept, and can be read by their id; they are in no list and no stream, and give no events.\n\n" +
    "Ids of orders are the location's own: the same id at another location is another order.",
  request: {
    query: z.object({
      locationId: z
        .guid()
        .optional()
        .meta({ description: "The location that the orders belong to: the key's own, unless the key may act for any" }),
    }),
    body: ordersBody,
  },
  responses: {
    200: { description: "The orders that were taken", schema: z.array(OrderLive) },
    204: { description: "The request was repeated under its Idempotency-Key, and its reply was not kept" },
  },
  errors: ["location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ body: orders, query, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, query.locationId, services.locations, context);
    const taken = await upsertOrders(services, { locationId, orders, context });
    return text(200, listOf(taken));
  },
});
