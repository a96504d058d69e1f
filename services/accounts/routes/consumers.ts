import {
  ApiConsumer,
  ApiKey,
  ChangeApiConsumer,
  CreateApiConsumer,
  CreateApiKey,
  CreatedApiKey,
} from "@pragma/contracts/api-consumer";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { newestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import {
  getReadableLocationId,
  locationIdQueryParam,
  resolveLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { changeConsumer, createConsumer } from "../consumers.ts";
import { defineRoute } from "../context.ts";
import { createConsumerKey, revokeApiKey } from "../keys.ts";
import { apiKeyListQuery, consumerListQuery } from "../queries/consumers.ts";

const consumerRouteDefaults = { tag: "Consumers", audience: "operator", scope: "consumers:write" } as const;

export const listConsumersRoute = defineRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  ...consumerRouteDefaults,
  summary: "List consumers",
  description:
    "The consumers with their scopes and rate limits, newest first. A key without locations:any sees those that its own location created.",
  request: { query: z.object(paginationQueryShape) },
  responses: { 200: { description: "A page of consumers", schema: paginatedSchema(ApiConsumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = getReadableLocationId(principal);
    return newestRowsPageResponse(
      { query, url, origin },
      services.db.sql,
      consumerListQuery(services.db.sql, locationId),
    );
  },
});

export const createConsumerRoute = defineRoute({
  method: "post",
  path: "/v1/consumers/",
  operationId: "createConsumer",
  ...consumerRouteDefaults,
  summary: "Create a consumer",
  description:
    "Creates a consumer: an integrator, or a POS app, that keys are created for. It begins with those of the scopes reports:read, orders:read, catalog:read and locations:read that the key itself has, and with the default rate limit or the key's own, if that is lower; change them with PATCH. The consumer belongs to the key's location, or to the operators when the key has locations:any. Its name is unique among the consumers of its location, or of the operators.",
  request: { body: jsonBodyParser(CreateApiConsumer, { example: { name: "Acme" } }) },
  responses: { 201: { description: "The consumer", schema: ApiConsumer } },
  errors: ["consumer_exists"],
  async handle({ body, principal, services }) {
    return jsonResponse(201, await createConsumer(services, { name: body.name, principal }));
  },
});

export const changeConsumerRoute = defineRoute({
  method: "patch",
  path: "/v1/consumers/{id}",
  operationId: "changeConsumer",
  ...consumerRouteDefaults,
  summary: "Change what a consumer may do",
  description:
    "Sets the scopes of a consumer, its rate limit (null: the default), or both; its keys follow within a second. A key changes only consumers whose scopes and rate limit are no more than its own, before and after. Without locations:any it finds only the consumers that its own location created.",
  request: {
    params: z.object({ id: z.guid().meta({ description: "Id of the consumer" }) }),
    body: jsonBodyParser(ChangeApiConsumer, {
      example: { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
    }),
  },
  responses: { 200: { description: "The consumer as it is now", schema: ApiConsumer } },
  errors: ["consumer_not_found", "rate_limit_forbidden"],
  async handle({ params, body, principal, services, context }) {
    return jsonResponse(200, await changeConsumer(services, { id: params.id, change: body, principal, context }));
  },
});

const listApiKeysQuery = z.object({
  ...paginationQueryShape,
  locationId: locationIdQueryParam("Only the keys of this location"),
});

const keyRouteDefaults = { tag: "Keys", audience: "operator", scope: "keys:write" } as const;

export const listApiKeysRoute = defineRoute({
  method: "get",
  path: "/v1/auth/keys/",
  operationId: "listApiKeys",
  ...keyRouteDefaults,
  summary: "List API keys",
  description:
    "The keys, newest first, revoked ones too: how each begins, whose it is, and when it was last used; never the key itself. A key without locations:any sees those of its own location only.",
  request: { query: listApiKeysQuery },
  responses: { 200: { description: "A page of keys", schema: paginatedSchema(ApiKey) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId =
      query.locationId === undefined
        ? getReadableLocationId(principal)
        : resolveLocationId(principal, query.locationId);
    return newestRowsPageResponse(
      { query, url, origin },
      services.db.sql,
      apiKeyListQuery(services.db.sql, locationId),
    );
  },
});

export const createApiKeyRoute = defineRoute({
  method: "post",
  path: "/v1/auth/keys/",
  operationId: "createApiKey",
  ...keyRouteDefaults,
  summary: "Create an API key",
  description:
    "Creates a key for a consumer at a location. It is shown this once: only its hash is kept. A key creates keys only for consumers whose scopes and rate limit are no more than its own. Without locations:any it creates keys only at its own location, and finds only the consumers that this location created. With locations:any, consumerName is looked up among the consumers of the operators, then among those of the location.",
  request: {
    body: jsonBodyParser(CreateApiKey, {
      example: { locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11", consumerName: "Acme" },
    }),
  },
  responses: { 201: { description: "The key", schema: CreatedApiKey } },
  errors: ["location_forbidden", "location_not_found", "consumer_not_found", "rate_limit_forbidden"],
  async handle({ body, principal, services, context }) {
    const locationId = resolveLocationId(principal, body.locationId);
    const apiKey = await createConsumerKey(services, {
      locationId,
      consumerName: body.consumerName,
      principal,
      context,
    });
    return jsonResponse(201, { apiKey }, { "cache-control": "no-store" });
  },
});

export const revokeApiKeyRoute = defineRoute({
  method: "delete",
  path: "/v1/auth/keys/{id}",
  operationId: "revokeApiKey",
  ...keyRouteDefaults,
  summary: "Revoke an API key",
  description:
    "Revokes a key for good: requests with it are refused within a second. It stays in the list, as revoked. Revoking it again changes nothing. A key without locations:any revokes those of its own location only, and the keys of an admin are revoked by an admin only.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the key, as the list of keys tells it" }) }) },
  responses: { 204: { description: "The key is revoked" } },
  errors: ["key_not_found"],
  async handle({ params, principal, services, context }) {
    await revokeApiKey(services, { id: params.id, principal, context });
    return { status: 204, body: null, headers: {} };
  },
});
