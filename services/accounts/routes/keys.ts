import { ApiKey, CreateApiKey, CreatedApiKey } from "@pragma/contracts/api-key";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { jsonBody } from "@pragma/runtime/define-route";
import { ownLocation, readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { createKey, revokeKey } from "../keys.ts";
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

export const createKeyRoute = defineRoute({
  method: "post",
  path: "/v1/auth/keys/",
  operationId: "createApiKey",
  tag: "Keys",
  audience: "operator",
  scope: "keys:write",
  summary: "Create an API key",
  description:
    "Creates a key for a consumer at a location. It is shown this once: only its hash is kept. A key creates keys only for consumers whose scopes and rate limit are no more than its own. Without locations:any it creates keys only at its own location, and finds only the consumers that this location created. With locations:any, consumerName is looked up among the consumers of the operators, then among those of the location.",
  request: {
    body: jsonBody(CreateApiKey, {
      example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
    }),
  },
  responses: { 201: { description: "The key", schema: CreatedApiKey } },
  errors: ["location_forbidden", "location_not_found", "consumer_not_found", "rate_limit_forbidden"],
  async handle({ body, principal, services, context }) {
    const locationId = ownLocation(principal, body.locationId);
    const apiKey = await createKey(services, { locationId, consumerName: body.consumerName, principal, context });
    return json(201, { apiKey }, { "cache-control": "no-store" });
  },
});

export const revokeKeyRoute = defineRoute({
  method: "delete",
  path: "/v1/auth/keys/{id}",
  operationId: "revokeApiKey",
  tag: "Keys",
  audience: "operator",
  scope: "keys:write",
  summary: "Revoke an API key",
  description:
    "Revokes a key for good: requests with it are refused within a second. It stays in the list, as revoked. Revoking it again changes nothing. A key without locations:any revokes those of its own location only, and the keys of an admin are revoked by an admin only.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the key, as the list of keys tells it" }) }) },
  responses: { 204: { description: "The key is revoked" } },
  errors: ["key_not_found"],
  async handle({ params, principal, services, context }) {
    await revokeKey(services, { id: params.id, principal, context });
    return { status: 204, body: null, headers: {} };
  },
});
