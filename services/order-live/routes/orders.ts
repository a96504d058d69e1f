import { ApiError } from "@pragma/contracts/errors";
import { OrderLive } from "@pragma/contracts/order-live";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { listOf } from "@pragma/runtime/join-json";
import { namedLocation } from "@pragma/runtime/locations";
import { ownLocation, readableLocation } from "@pragma/runtime/own-location";
import { tagged, text } from "@pragma/runtime/reply";
import { instantInToken, replyWithLargePage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { filterOf, filterQuery } from "../order-filter.ts";
import { defineRoute } from "../order-live.ts";
import { ordersBody } from "../orders-body.ts";
import { countListed, findListed } from "../queries/lists.ts";
import { findOrder } from "../queries/orders.ts";
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

const query = z.object({
  ...filterQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
  ...pageQuery,
});

/** The last order of a page. */
const placeSchema = z.object({ at: instantInToken, id: z.guid() });

export const listOrdersRoute = defineRoute({
  method: "get",
  path: "/v1/orders-live/",
  operationId: "listLiveOrders",
  tag: "Live orders",
  audience: "public",
  scope: "orders:read",
  summary: "List live orders",
  description:
    "The orders of the location whose till is not closed yet, newest first by when they were opened at the point of sale. Orders made in school mode are not among them.",
  request: { query },
  responses: { 200: { description: "A page of live orders", schema: pageOf(OrderLive) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, pageMaxBytes }, url, origin }) {
    const locationId = ownLocation(principal, query.locationId);
    const filter = filterOf(query);
    return replyWithLargePage({ query, principal, url, origin }, placeSchema, async (range) => {
      const [total, { orders, hasMore }] = await Promise.all([
        countListed(db.sql, locationId, filter),
        findListed(db.sql, { locationId, filter }, { ...range, maxBytes: pageMaxBytes }),
      ]);
      const last = hasMore ? orders.at(-1) : undefined;
      return {
        items: orders.map(({ body }) => body),
        total,
        last: last ? { at: last.at, id: last.id } : null,
      };
    });
  },
});

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
