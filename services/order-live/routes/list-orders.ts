import { OrderLive } from "@pragma/contracts/order-live";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { ownLocation } from "@pragma/runtime/own-location";
import { decodePageToken, encodePageToken, pageReply } from "@pragma/runtime/page";
import { z } from "zod";
import { filterOf, filterQuery } from "../order-filter.ts";
import { defineRoute } from "../order-live.ts";
import { countListed, findListed } from "../queries/lists.ts";

const query = z.object({
  ...filterQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
  ...pageQuery,
});

/** The last order of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ at: z.iso.datetime(), id: z.guid(), index: z.int().min(1) });

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
  async handle({ query: { size, pageToken, ...query }, principal, services, url, origin }) {
    const locationId = ownLocation(principal, query.locationId);
    const filter = filterOf(query);
    const place = pageToken === undefined ? undefined : decodePageToken(pageToken, placeSchema);
    const index = place?.index ?? query.index;
    const start = place ? { after: place } : { skip: index * size };
    const { sql } = services.db;
    const [total, found] = await Promise.all([
      countListed(sql, locationId, filter),
      // One more than the page holds tells whether there is another page.
      findListed(sql, { locationId, filter }, { start, limit: size + 1 }),
    ]);
    const orders = found.slice(0, size);
    const last = found.length > size ? orders.at(-1) : undefined;
    const nextPageToken = last ? encodePageToken({ at: last.at, id: last.id, index: index + 1 }) : null;
    return pageReply({ items: orders.map(({ body }) => body), total, index, size, url, origin, nextPageToken });
  },
});
