import { DateTime } from "@pragma/contracts/date-time";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { Till } from "@pragma/contracts/till";
import { ownLocation } from "@pragma/runtime/own-location";
import { decodePageToken, encodePageToken, instantInToken, pageReply } from "@pragma/runtime/page";
import { z } from "zod";
import { countTills, findTillsSince, type TillRow } from "../queries/tills.ts";
import { defineRoute } from "../till-ingest.ts";
import { tillReply } from "../till-reply.ts";

const query = z.object({
  sinceDate: DateTime.meta({
    description: "Tills that came in at this time or later, with an offset or Z",
    example: "2026-05-29T00:00:00Z",
  }),
  ...pageQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

/** The last till of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ at: instantInToken, id: z.guid(), index: z.int().min(1) });

export const listTills = defineRoute({
  method: "get",
  path: "/v1/tills/",
  operationId: "listTills",
  tag: "Tills",
  audience: "public",
  scope: "tills:read",
  summary: "List tills",
  description: "The tills of the location that came in since a time, of both formats, newest first.",
  request: { query },
  responses: { 200: { description: "A page of tills", schema: pageOf(Till) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query: { sinceDate: since, size, pageToken, ...query }, principal, services, url, origin }) {
    const filter = { locationId: ownLocation(principal, query.locationId), since };
    const place = pageToken === undefined ? undefined : decodePageToken(pageToken, placeSchema);
    const index = place?.index ?? query.index;
    const start = place ? { after: place } : { skip: index * size };
    const { sql } = services.db;
    const [total, found] = await Promise.all([
      countTills(sql, filter),
      findTillsSince(sql, filter, { start, limit: size + 1 }),
    ]);
    const tills = found.slice(0, size);
    const items = tills.map((till) => JSON.stringify(tillReply(till, origin)));
    const last = found.length > size ? tills.at(-1) : undefined;
    return pageReply({ items, total, index, size, url, origin, nextPageToken: last ? tokenAfter(last, index) : null });
  },
});

function tokenAfter({ created_at, id }: TillRow, index: number): string {
  return encodePageToken({ at: created_at.toISOString(), id, index: index + 1 });
}
