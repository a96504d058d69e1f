import { locationIdExample, orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { leftReasons } from "@pragma/contracts/order-live";
import { ownLocation } from "@pragma/runtime/own-location";
import { z } from "zod";
import { filterOf, filterQuery } from "../order-filter.ts";
import { defineRoute } from "../order-live.ts";

const query = z.object({
  ...filterQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

const { id, tillId } = orderLiveInputExample;
const example = [
  "retry: 1000\n",
  `event: order\ndata: {"id":"${id}","tillId":"${tillId}", ...}\n`,
  `id: ${locationIdExample}:41\nevent: ready\ndata: {}\n`,
  ": heartbeat\n",
  `id: ${locationIdExample}:42\nevent: order\ndata: {"id":"${id}","tillId":"${tillId}", ...}\n`,
  `id: ${locationIdExample}:43\nevent: left\ndata: {"id":"${id}","locationId":"${locationIdExample}","tillId":"${tillId}","reason":"till"}\n`,
  "",
].join("\n");

const reasons = Object.entries(leftReasons).map(([reason, meaning]) => `\`${reason}\` (${meaning.toLowerCase()})`);

export const streamOrdersRoute = defineRoute({
  method: "get",
  path: "/v1/orders-live/stream",
  operationId: "streamLiveOrders",
  tag: "Live orders",
  audience: "public",
  scope: "orders:read",
  summary: "Follow live orders",
  description: [
    "A stream of server-sent events (text/event-stream) that begins with the live orders and goes on with every change of them, each once and in order, with the same filters as the list.",
    "The types of events:",
    "- `order`: an order as it is now, in the shape of the list. Each change that was taken is one event with an id; the orders that are there when the stream begins are events without an id.\n" +
      "- `ready`: everything that there was has been sent; from here on events come as orders change.\n" +
      `- \`left\`: an order that is no longer to be shown, as {id, locationId, tillId, reason}. Reasons: ${reasons.join(", ")}. It may name an order that was not shown.\n` +
      "- `reset`: forget what was shown; the live orders follow. Its `reason` is `expired` when the id that was given back is older than the log of changes, and `unknown` when it is no place in this location's stream.\n" +
      "- `closed`: the stream ends; its `reason` is `shutdown` (come back at once), `slow` (what was sent was not read for 30 seconds), or `unavailable` (come back in a moment).",
    "Send the last id that came as `Last-Event-ID` to go on from there: changes are kept for 24 hours. Browsers' `EventSource`, and its likes that can send a key, do so by themselves. " +
      "A comment comes every 15 seconds, so that both sides notice a broken connection. The stream ends when its key is revoked or changed.",
  ].join("\n\n"),
  request: {
    query,
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .meta({
          description: "The id of the last event that came: the stream goes on after it",
          example: `${locationIdExample}:41`,
        }),
    }),
  },
  responses: {
    200: { description: "The stream", schema: z.string(), example, contentType: "text/event-stream" },
  },
  errors: ["location_forbidden", "too_many_streams"],
  async handle({ query, principal, services, context, header, signal }) {
    const locationId = ownLocation(principal, query.locationId);
    const lastEventId = header("last-event-id") || undefined;
    context.addToLog({ resumes: lastEventId !== undefined });
    return {
      status: 200,
      body: await services.hub.open({ locationId, filter: filterOf(query), lastEventId, signal }),
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store, no-transform",
        // Proxies of the nginx kind hold back what comes bit by bit, unless told not to.
        "x-accel-buffering": "no",
      },
    };
  },
});
