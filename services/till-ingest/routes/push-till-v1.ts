import { PushedTill } from "@pragma/contracts/till";
import { TillV1 } from "@pragma/contracts/till-v1";
import { acceptTill } from "../accept-till.ts";
import { pushReply } from "../push-reply.ts";
import { tillBody } from "../till-body.ts";
import { defineRoute } from "../till-ingest.ts";
import { legacyLocation } from "../till-location.ts";

export const pushTillV1 = defineRoute({
  method: "post",
  path: "/v1/tills/",
  operationId: "pushTillV1",
  tag: "Tills",
  audience: "public",
  scope: "tills:write",
  summary: "Push a till in the older format",
  description:
    "Accepts the till of a closed shift from an older application or a legacy backoffice. " +
    "Its location is the one with the body's application and legacyId: the key's own, unless the key may act for any. " +
    "Otherwise it is as a till that is pushed in the newer format: the same bytes again change nothing, gzip is taken, and 50 MB at most.",
  request: { body: tillBody("V1", TillV1) },
  responses: {
    201: { description: "The till was accepted", schema: PushedTill },
    200: { description: "The same till was accepted before", schema: PushedTill },
  },
  errors: ["location_forbidden", "location_not_found", "till_conflict", "quota_exceeded"],
  async handle({ body: till, principal, services, context, origin }) {
    const location = await legacyLocation(principal, till.facts.legacyLocation, services.locations, context);
    const accepted = await acceptTill(services, { location, till, principal, context });
    return pushReply(accepted, { origin, context });
  },
});
