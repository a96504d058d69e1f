import { ApiError } from "@pragma/contracts/errors";
import { liveOrderLocationIdExample, orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { OrderLive, orderLeftStreamReasons, skippedLiveOrderReasons } from "@pragma/contracts/order-live";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createdAtCursorSchema, createPageResponse } from "@pragma/runtime/http/page-response";
import { createConditionalJsonResponse, createSerializedJsonResponse } from "@pragma/runtime/http/route-response";
import { joinJsonArray } from "@pragma/runtime/json/join-json";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineOrderLiveRoute } from "../context.ts";
import { liveOrderFilterQueryShape, pickLiveOrderQueryFilters } from "../order-filter.ts";
import { upsertLiveOrdersBodyParser } from "../orders-body.ts";
import { countListedLiveOrders, findLiveOrderPage } from "../queries/listed-orders.ts";
import { storeLiveOrders } from "../store-live-orders.ts";

const skipReasonList = Object.entries(skippedLiveOrderReasons)
  .map(([reason, meaning]) => `- \`${reason}\`: ${meaning}.`)
  .join("\n");

export const upsertLiveOrdersRoute = defineOrderLiveRoute({
  method: "post",
  path: "/v1/orders-live/",
  operationId: "upsertLiveOrders",
  tag: "Live orders",
  audience: "public",
  scope: "orders:write",
  summary: "Create or update live orders",
  description:
    "Creates or updates up to 50 live orders of a location. If any order is invalid, no order is created or updated. The response contains the created and updated orders.\n\n" +
    `An order can be skipped. The response header \`x-skipped-orders\` then contains its ID and the reason, such as \`${orderLiveInputExample.id}=outdated\`. Several orders are separated by commas. The reasons are:\n\n${skipReasonList}\n\n` +
    "You can therefore safely repeat a request if you did not receive its response. " +
    "If `data.modifiedAt` is more than five minutes later than the time of the server, the order is compared as if it had been modified when the server received it, so that a wrong clock does not block later updates.\n\n" +
    "Each created or updated order emits at most one event: `order.canceled` when the order becomes canceled, otherwise `order.transferred` when it becomes transferred, otherwise `order.paid` when it becomes paid. " +
    "An open order (not paid, canceled, transferred or manually closed) emits `order.call` when it is new, when it is reopened, or when its products or menus change. " +
    "Orders in training mode (`data.isTraining`) are stored, and you can get them by ID. They do not appear in lists or streams, and they emit no events.\n\n" +
    "Order IDs are unique only within a location. At another location, the same ID identifies a different order.",
  request: {
    query: z.object({
      locationId: locationIdQueryParameter("ID of the orders' location. Defaults to the API key's location."),
    }),
    body: upsertLiveOrdersBodyParser,
  },
  responses: {
    200: {
      description: "The orders that were created or updated, without the skipped orders",
      schema: z.array(OrderLive),
    },
    204: {
      description:
        "An earlier request with the same `Idempotency-Key` took effect, but its response is no longer stored: it exceeded a limit for stored responses, or contained personal data that was erased. This response therefore has no body.",
    },
  },
  errors: ["location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ body: orders, query, principal, services, context }) {
    const location = await resolveRequestedLocation(principal, query.locationId, services.locations, context);
    const { applied, skipped } = await storeLiveOrders(services, { location, orders, context });
    const skippedHeader = skipped.map(({ id, reason }) => `${id}=${reason}`).join(", ");
    const headers = skippedHeader === "" ? {} : { "x-skipped-orders": skippedHeader };
    return {
      ...createSerializedJsonResponse(200, joinJsonArray(applied.map(({ body }) => body)), headers),
      ordersInBody: { locationId: location.id, orderIds: applied.map(({ id }) => id) },
    };
  },
});

const liveOrdersQuery = z.object({
  ...liveOrderFilterQueryShape,
  locationId: locationIdQueryParameter(),
});

const liveOrdersReadDefaults = { tag: "Live orders", audience: "public", scope: "orders:read" } as const;

export const listLiveOrdersRoute = defineOrderLiveRoute({
  method: "get",
  path: "/v1/orders-live/",
  operationId: "listLiveOrders",
  ...liveOrdersReadDefaults,
  summary: "List live orders",
  description:
    "Returns the location's live orders, most recently opened first. Orders in training mode are not included.",
  request: { query: liveOrdersQuery.extend(paginationQueryShape) },
  responses: {
    200: { description: "A page of live orders, most recently opened first", schema: paginatedSchema(OrderLive) },
  },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, config }, url, origin }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const filter = pickLiveOrderQueryFilters(query);
    return createPageResponse({ query, locationId, principal, url, origin }, createdAtCursorSchema, async (range) => {
      const pageRange = { ...range, maxBytes: config.PAGE_MAX_BYTES };
      const { orders, last } = await findLiveOrderPage(db.sql, { locationId, filter }, pageRange);
      // Counts after the page is read, not concurrently, so that each request uses only one database connection.
      const total = await countListedLiveOrders(db.sql, locationId, filter);
      return { items: orders.map(({ body }) => body), total, last };
    });
  },
});

export const getLiveOrderRoute = defineOrderLiveRoute({
  method: "get",
  path: "/v1/orders-live/{id}",
  operationId: "getLiveOrder",
  ...liveOrdersReadDefaults,
  summary: "Get a live order",
  description:
    "Returns a live order. Once the order's till is closed and has a report, get the order from `/v1/orders/{id}` or `/v2/orders/{id}` instead.",
  request: { params: z.object({ id: z.guid().meta({ description: "ID of the live order" }) }) },
  responses: {
    200: { description: "The live order in its current state", schema: OrderLive },
    304: { description: "The client's cached response is current" },
  },
  errors: ["order_not_found"],
  async handle({ params: { id }, principal, services, header }) {
    const locationId = getReadRestrictionLocationId(principal);
    const { sql } = services.db;
    // A key of all locations gets the most recently updated order with this id.
    const [order] = await sql<{ body: string; etag: string }[]>`
      select body, etag from live_orders
      where id = ${id} and departed_at is null ${locationId === null ? sql`` : sql`and location_id = ${locationId}`}
      order by updated_at desc limit 1`;
    if (!order) throw new ApiError("order_not_found", { detail: `This location has no live order ${id}.` });
    return createConditionalJsonResponse(order.body, { etag: order.etag, ifNoneMatch: header("if-none-match") });
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

const leftReasonTexts = Object.entries(orderLeftStreamReasons).map(
  ([reason, meaning]) => `\`${reason}\` (${meaning.toLowerCase()})`,
);

export const streamLiveOrdersRoute = defineOrderLiveRoute({
  method: "get",
  path: "/v1/orders-live/stream",
  operationId: "streamLiveOrders",
  ...liveOrdersReadDefaults,
  summary: "Stream live orders",
  description: [
    "Streams server-sent events (`text/event-stream`). The stream first sends the live orders, and then sends each change exactly once and in sequence. You can use the same filters as in the list of live orders.",
    "Event types:",
    "- `order`: contains the current state of an order, in the same format as in the list. Each change is sent as one event with an ID. The initial orders are sent as events without an ID.\n" +
      "- `ready`: all initial orders have been sent. After this event, the stream sends changes as they occur.\n" +
      `- \`left\`: an order is no longer in the list. The event contains the order's \`id\`, \`locationId\` and \`tillId\`, and a \`reason\`: ${new Intl.ListFormat("en", { type: "disjunction" }).format(leftReasonTexts)}. You can also receive this event for an order that the stream has not sent before.\n` +
      "- `reset`: discard all orders that you have received. The stream sends the live orders again. The `reason` is `expired` if the changes after the `Last-Event-ID` are no longer stored, and `unknown` if the `Last-Event-ID` does not belong to the stream of this location.\n" +
      "- `closed`: the stream ends. The `reason` is `shutdown` (reconnect immediately), `slow` (the client read nothing for 30 seconds), or `unavailable` (reconnect after one second).",
    "To resume a stream, send the ID of the last event that you received in the `Last-Event-ID` header. Clients that are compatible with `EventSource` send this header automatically. You can resume a stream for up to 24 hours, because the API stores changes for that long. " +
      "The stream sends a comment every 15 seconds, so that both sides notice a broken connection. The stream ends when the API key is revoked, or when the scopes or the rate limit of its consumer change.",
  ].join("\n\n"),
  request: {
    query: liveOrdersQuery,
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .meta({
          description: "ID of the last event that you received. The stream resumes after this event.",
          example: `${liveOrderLocationIdExample}:41`,
        }),
    }),
  },
  responses: {
    200: {
      description: "A stream of server-sent events that stays open",
      schema: z.string(),
      example: streamExample,
      contentType: "text/event-stream",
    },
  },
  errors: ["location_forbidden", "too_many_streams"],
  async handle({ query, principal, services, context, header, signal }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const lastEventId = header("last-event-id") || undefined;
    context.addLogFields({ resumes: lastEventId !== undefined });
    const filter = pickLiveOrderQueryFilters(query);
    return {
      status: 200,
      body: await services.broadcaster.openStream({ locationId, filter, lastEventId, signal }),
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store, no-transform",
        // Without this header, nginx and similar proxies buffer the stream.
        "x-accel-buffering": "no",
      },
    };
  },
});
