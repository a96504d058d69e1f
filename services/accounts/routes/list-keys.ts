import { ApiKey } from "@pragma/contracts/api-key";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { ownLocation, readableLocation } from "@pragma/runtime/own-location";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { listKeys } from "../queries/keys.ts";

const query = z.object({
  ...pageQuery,
  locationId: z.guid().optional().meta({ description: "Only the keys of this location" }),
});

export const listKeysRoute = defineRoute({
  method: "get",
  path: "/v1/auth/keys/",
  operationId: "listApiKeys",
  tag: "Keys",
  audience: "operator",
  scope: "keys:write",
  summary: "List API keys",
  description:
    "The keys, newest first, revoked ones too: how each begins, whose it is, and when it was last used; never the key itself. A key without locations:any sees those of its own location only.",
  request: { query },
  responses: { 200: { description: "A page of keys", schema: pageOf(ApiKey) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId =
      query.locationId === undefined ? readableLocation(principal) : ownLocation(principal, query.locationId);
    return replyWithPage({ query, url, origin }, (range) => listKeys(services.db, { locationId }, range));
  },
});
