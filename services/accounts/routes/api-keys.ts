import {
  ApiKey,
  CreateApiKeyRequest,
  CreatedApiKey,
  CurrentApiKey,
  RotateApiKeyRequest,
  RotatedApiKey,
} from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { locationIdQueryParameter, resolveAuthorizedLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { createConsumerApiKey, revokeApiKey, rotateApiKey } from "../api-keys.ts";
import { defineAccountsRoute } from "../context.ts";
import { resolveListedLocationId } from "../permissions.ts";
import { effectiveExpiry, findCurrentApiKey } from "../queries/api-keys.ts";
import { locationName } from "../queries/locations.ts";

const listApiKeysQuery = z.object({
  ...paginationQueryShape,
  locationId: locationIdQueryParameter(
    "ID of the location whose API keys are returned. Defaults to all locations if the calling key has the scope `locations:any`, and otherwise to the location of the calling key.",
  ),
});

const keyRouteDefaults = { tag: "Keys", audience: "operator", scope: "keys:write" } as const;

export const listApiKeysRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/auth/keys/",
  operationId: "listApiKeys",
  ...keyRouteDefaults,
  summary: "List API keys",
  description:
    "Returns all keys, including revoked keys, newest first. Each item contains the first characters of the key, its consumer with its scopes, its location and the time of its last use, but not the key itself. Without the scope `locations:any`, the list contains only the keys of the calling key's location.",
  request: { query: listApiKeysQuery },
  responses: { 200: { description: "A page of API keys, newest first", schema: paginatedSchema(ApiKey) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = resolveListedLocationId(principal, query.locationId);
    const { sql } = services.db;
    const columns = sql`
      id, prefix, (select coalesce(display_name, name) from consumers where id = consumer_id) as consumer_name,
      (select scopes from consumers where id = consumer_id) as scopes,
      location_id, (select ${locationName(sql)} from locations where id = location_id) as location_name,
      created_at, last_used_at, revoked_at, ${effectiveExpiry(sql)} as expires_at, overlap_ends_at,
      created_by, revoked_by`;
    const where = locationId === null ? sql`true` : sql`location_id = ${locationId}`;
    const list = { columns, table: sql`api_keys`, where };
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

export const getCurrentApiKeyRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/auth/keys/current",
  operationId: "getCurrentApiKey",
  tag: "Keys",
  audience: "public",
  scope: "any",
  summary: "Get your API key",
  description:
    "Returns the API key that sends the request: its consumer, scopes, location, expiry and rate limit, but not the key itself. Use it to check a key, and to find out the time zone and the currency of its location.",
  responses: { 200: { description: "The API key that sent the request", schema: CurrentApiKey } },
  errors: ["key_not_found"],
  async handle({ principal, services }) {
    const key = await findCurrentApiKey(services, principal.keyId);
    if (!key) throw new ApiError("key_not_found");
    return jsonResponse(200, key, { "cache-control": "private, no-cache" });
  },
});

export const createApiKeyRoute = defineAccountsRoute({
  method: "post",
  path: "/v1/auth/keys/",
  operationId: "createApiKey",
  ...keyRouteDefaults,
  summary: "Create an API key",
  description:
    "Creates a key for a consumer at a location. With `expiresAt`, the key stops working at that time. A calling key that expires, without the scope `locations:any`, can create only keys that do not expire later than it. The key is returned only in this response, so store it securely. The scopes and the rate limit of the consumer must not exceed those of the calling key. Without the scope `locations:any`, you can create keys only at the calling key's own location, and only for consumers that belong to this location. With `locations:any`, the API looks for `consumerName` first among the operators' consumers, and then among the location's consumers.",
  request: {
    body: createValidatingJsonBodyParser(CreateApiKeyRequest, {
      example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
    }),
  },
  responses: {
    201: { description: "The new API key. Later responses do not contain the key.", schema: CreatedApiKey },
  },
  errors: ["location_forbidden", "location_not_found", "consumer_not_found", "rate_limit_forbidden", "limit_reached"],
  async handle({ body, principal, services, audit }) {
    const locationId = resolveAuthorizedLocationId(principal, body.locationId);
    const apiKey = await createConsumerApiKey(services, { ...body, locationId, principal, audit });
    return jsonResponse(201, { apiKey }, { "cache-control": "no-store" });
  },
});

const keyPathParams = z.object({
  id: z.guid().meta({ description: "ID of the key, as returned by `GET /v1/auth/keys`" }),
});

export const rotateApiKeyRoute = defineAccountsRoute({
  method: "post",
  path: "/v1/auth/keys/{id}/rotate",
  operationId: "rotateApiKey",
  ...keyRouteDefaults,
  summary: "Rotate an API key",
  description:
    "Creates a key with the same consumer and location as an active key, which it replaces. The new key is returned only in this response, so store it securely. The previous key still works for 24 hours, or for `overlapSeconds`, and then expires. Set `isLeaked` to `true` to revoke the previous key immediately. The calling key needs the same permissions as for creating the new key and revoking the previous key. A key can rotate itself. If the calling key expires, this does not extend its expiry: the new key expires at the latest with it, unless the calling key has the scope `locations:any` and rotates another key.",
  request: { params: keyPathParams, body: createValidatingJsonBodyParser(RotateApiKeyRequest) },
  responses: {
    201: { description: "The new API key. Later responses do not contain the key.", schema: RotatedApiKey },
  },
  errors: ["key_not_found", "key_inactive", "rate_limit_forbidden", "limit_reached"],
  async handle({ params, body, principal, services, audit }) {
    const rotated = await rotateApiKey(services, { id: params.id, options: body, principal, audit });
    return jsonResponse(201, rotated, { "cache-control": "no-store" });
  },
});

export const revokeApiKeyRoute = defineAccountsRoute({
  method: "delete",
  path: "/v1/auth/keys/{id}",
  operationId: "revokeApiKey",
  ...keyRouteDefaults,
  summary: "Revoke an API key",
  description:
    "Revokes a key permanently. Within one second, all requests with the key fail. The revoked key remains in the list. Revoking a key that is already revoked has no effect. To revoke a key of another location, the calling key needs the scope `locations:any`. Only a key with the scope `admin` can revoke keys with the scope `admin`.",
  request: { params: keyPathParams },
  responses: { 204: { description: "The API key was revoked" } },
  errors: ["key_not_found"],
  async handle({ params, principal, services, audit }) {
    await revokeApiKey(services, { id: params.id, principal, audit });
    return { status: 204, body: null, headers: {} };
  },
});
