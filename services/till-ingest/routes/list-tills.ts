import { DateTime } from "@pragma/contracts/date-time";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { Till } from "@pragma/contracts/till";
import { ownLocation } from "@pragma/runtime/own-location";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { listTillsSince } from "../queries/tills.ts";
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
  async handle({ query, principal, services, url, origin }) {
    const filter = { locationId: ownLocation(principal, query.locationId), since: query.sinceDate };
    return replyWithPage({ query, url, origin }, async (range) => {
      const { rows, total } = await listTillsSince(services.db.sql, filter, range);
      return { rows: rows.map((till) => tillReply(till, origin)), total };
    });
  },
});
