import { OrderLive } from "@pragma/contracts/order-live";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { ownLocation } from "@pragma/runtime/own-location";
import { instantInToken, replyWithLargePage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { filterOf, filterQuery } from "../order-filter.ts";
import { defineRoute } from "../order-live.ts";
import { countListed, findListed } from "../queries/lists.ts";

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
