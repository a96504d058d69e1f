import { ApiError } from "@pragma/contracts/errors";
import { liveOrderLocationIdExample, orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLive, orderLeftReasons } from "@pragma/contracts/order-live";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createdAtPositionSchema, largePageResponse } from "@pragma/runtime/http/page-response";
import { conditionalJsonResponse, jsonTextResponse } from "@pragma/runtime/http/route-response";
import { joinJsonArray } from "@pragma/runtime/json/join-json";
import {
  getReadableLocationId,
  locationIdQueryParam,
  resolveLocationId,
  resolveLocationRef,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineLiveOrdersRoute } from "../context.ts";
import { orderFilterQuery, pickOrderFilter } from "../order-filter.ts";
import { upsertOrdersBody } from "../orders-body.ts";
import { countListedOrders, findListedOrders } from "../queries/listed-orders.ts";
import { findLiveOrder } from "../queries/orders.ts";
import { upsertOrders } from "../upsert-orders.ts";

export const upsertLiveOrdersRoute = defineLiveOrdersRoute({
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
      locationId: locationIdQueryParam(
        "The location that the orders belong to: the key's own, unless the key may act for any",
      ),
    }),
    body: upsertOrdersBody,
  },
  responses: {
    200: { description: "The orders that were taken", schema: z.array(OrderLive) },
    204: { description: "The request was repeated under its Idempotency-Key, and its reply was not kept" },
  },
  errors: ["location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ body: orders, query, principal, services, context }) {
    const { id: locationId } = await resolveLocationRef(principal, query.locationId, services.locations, context);
    const taken = await upsertOrders(services, { locationId, orders, context });
    return jsonTextResponse(200, joinJsonArray(taken));
  },
});

/** Which orders lists and streams show. */
const liveOrdersQuery = z.object({
  ...orderFilterQuery,
  locationId: locationIdQueryParam(),
});

const liveOrdersReadDefaults = { tag: "Live orders", audience: "public", scope: "orders:read" } as const;

export const listLiveOrdersRoute = defineLiveOrdersRoute({
  method: "get",
  path: "/v1/orders-live/",
  operationId: "listLiveOrders",
  ...liveOrdersReadDefaults,
  summary: "List live orders",
  description:
    "The orders of the location whose till is not closed yet, newest first by when they were opened at the point of sale. Orders made in school mode are not among them.",
  request: { query: liveOrdersQuery.extend(paginationQueryShape) },
  responses: { 200: { description: "A page of live orders", schema: paginatedSchema(OrderLive) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, config }, url, origin }) {
    const locationId = resolveLocationId(principal, query.locationId);
    const filter = pickOrderFilter(query);
    return largePageResponse({ query, principal, url, origin }, createdAtPositionSchema, async (range) => {
      const [total, { orders, hasMore }] = await Promise.all([
        countListedOrders(db.sql, locationId, filter),
        findListedOrders(db.sql, { locationId, filter }, { ...range, maxBytes: config.PAGE_MAX_BYTES }),
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

export const getLiveOrderRoute = defineLiveOrdersRoute({
  method: "get",
  path: "/v1/orders-live/{id}",
  operationId: "getLiveOrder",
  ...liveOrdersReadDefaults,
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
    const order = await findLiveOrder(services.db.sql, { id, locationId: getReadableLocationId(principal) });
    if (!order) throw new ApiError("order_not_found", { detail: `This location has no live order ${id}.` });
    return conditionalJsonResponse(order.body, { etag: order.etag, ifNoneMatch: header("if-none-match") });
  },
});

const { id, tillId } = orderLiveInputExample;
const streamExample = [
  "retry: 1000\n",
  `event: order\ndata: {"id":"${id}","tillId":"${tillId}", ...}\n`,
  `id: ${liveOrderLocationIdExample}:41\nevent: ready\ndata: {}\n`,
  ": heartbeat\n",
  `id: ${liveOrderLocationIdExample}:42\nevent: order\ndata: {"id":"${id}","tillId":"${tillId}", ...}\n`,
  `id: ${liveOrderLocationIdExample}:43\nevent: left\ndata: {"id":"${id}","locationId":"${liveOrderLocationIdExample}","tillId":"${tillId}","reason":"till"}\n`,
  "",
].join("\n");

const leftReasonTexts = Object.entries(orderLeftReasons).map(
  ([reason, meaning]) => `\`${reason}\` (${meaning.toLowerCase()})`,
);

export const streamLiveOrdersRoute = defineLiveOrdersRoute({
  method: "get",
  path: "/v1/orders-live/stream",
  operationId: "streamLiveOrders",
  ...liveOrdersReadDefaults,
  summary: "Follow live orders",
  description: [
    "A stream of server-sent events (text/event-stream) that begins with the live orders and goes on with every change of them, each once and in order, with the same filters as the list.",
    "The types of events:",
    "- `order`: an order as it is now, in the shape of the list. Each change that was taken is one event with an id; the orders that are there when the stream begins are events without an id.\n" +
      "- `ready`: everything that there was has been sent; from here on events come as orders change.\n" +
      `- \`left\`: an order that is no longer to be shown, as {id, locationId, tillId, reason}. Reasons: ${leftReasonTexts.join(", ")}. It may name an order that was not shown.\n` +
      "- `reset`: forget what was shown; the live orders follow. Its `reason` is `expired` when the id that was given back is older than the log of changes, and `unknown` when it is no place in this location's stream.\n" +
      "- `closed`: the stream ends; its `reason` is `shutdown` (come back at once), `slow` (what was sent was not read for 30 seconds), or `unavailable` (come back in a moment).",
    "Send the last id that came as `Last-Event-ID` to go on from there: changes are kept for 24 hours. Browsers' `EventSource`, and its likes that can send a key, do so by themselves. " +
      "A comment comes every 15 seconds, so that both sides notice a broken connection. The stream ends when its key is revoked or changed.",
  ].join("\n\n"),
  request: {
    query: liveOrdersQuery,
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .meta({
          description: "The id of the last event that came: the stream goes on after it",
          example: `${liveOrderLocationIdExample}:41`,
        }),
    }),
  },
  responses: {
    200: { description: "The stream", schema: z.string(), example: streamExample, contentType: "text/event-stream" },
  },
  errors: ["location_forbidden", "too_many_streams"],
  async handle({ query, principal, services, context, header, signal }) {
    const locationId = resolveLocationId(principal, query.locationId);
    const lastEventId = header("last-event-id") || undefined;
    context.addLogFields({ resumes: lastEventId !== undefined });
    return {
      status: 200,
      body: await services.broadcaster.openStream({ locationId, filter: pickOrderFilter(query), lastEventId, signal }),
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store, no-transform",
        // Proxies of the nginx kind hold back what comes bit by bit, unless told not to.
        "x-accel-buffering": "no",
      },
    };
  },
});
