import { PushedTill } from "@pragma/contracts/till";
import { TillV2 } from "@pragma/contracts/till-v2";
import { namedLocation } from "@pragma/runtime/locations";
import { z } from "zod";
import { acceptTill } from "../accept-till.ts";
import { pushReply } from "../push-reply.ts";
import { tillBody } from "../till-body.ts";
import { defineRoute } from "../till-ingest.ts";

export const pushTillV2 = defineRoute({
  method: "post",
  path: "/v2/tills/",
  operationId: "pushTillV2",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Push a till",
  description:
    "Accepts the till of a closed shift. Its report and orders can be read moments later. " +
    "Pushing the same till again, byte for byte, is answered alike and changes nothing, so a push whose answer was lost can be repeated. " +
    "The body may be sent with gzip, and be 50 MB large at most after inflating.",
  request: {
    query: z.object({
      locationId: z
        .guid()
        .optional()
        .meta({ description: "The location that the till belongs to: the key's own, unless the key may act for any" }),
    }),
    body: tillBody("V2", TillV2),
  },
  responses: {
    201: { description: "The till was accepted", schema: PushedTill },
    200: { description: "The same till was accepted before", schema: PushedTill },
  },
  errors: ["location_forbidden", "location_not_found", "till_conflict", "quota_exceeded"],
  async handle({ body: till, query, principal, services, context, origin }) {
    const location = await namedLocation(principal, query.locationId, services.locations, context);
    const accepted = await acceptTill(services, { location, till, principal, context });
    return pushReply(accepted, { origin, context });
  },
});
