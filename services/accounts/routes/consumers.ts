import {
  ApiKey,
  ChangeConsumer,
  Consumer,
  CreateApiKey,
  CreateConsumer,
  CreatedApiKey,
} from "@pragma/contracts/consumer";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { jsonBody } from "@pragma/runtime/define-route";
import { locationInQuery, ownLocation, readableLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { replyWithNewest } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { changeConsumer, createConsumer } from "../consumers.ts";
import { createKey, revokeKey } from "../keys.ts";
import { listOfConsumers, listOfKeys } from "../queries/consumers.ts";

const consumerRoute = { tag: "Consumers", audience: "operator", scope: "consumers:write" } as const;

export const listConsumersRoute = defineRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  ...consumerRoute,
  summary: "List consumers",
  description:
    "The consumers with their scopes and rate limits, newest first. A key without locations:any sees those that its own location created.",
  request: { query: z.object(pageQuery) },
  responses: { 200: { description: "A page of consumers", schema: pageOf(Consumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = readableLocation(principal);
    return replyWithNewest({ query, url, origin }, services.db.sql, listOfConsumers(services.db.sql, locationId));
  },
});

export const createConsumerRoute = defineRoute({
  method: "post",
  path: "/v1/consumers/",
  operationId: "createConsumer",
  ...consumerRoute,
  summary: "Create a consumer",
  description:
    "Creates a consumer: an integrator, or a POS app, that keys are created for. It begins with those of the scopes reports:read, orders:read, catalog:read and locations:read that the key itself has, and with the default rate limit or the key's own, if that is lower; change them with PATCH. The consumer belongs to the key's location, or to the operators when the key has locations:any. Its name is unique among the consumers of its location, or of the operators.",
  request: { body: jsonBody(CreateConsumer, { example: { name: "Acme" } }) },
  responses: { 201: { description: "The consumer", schema: Consumer } },
  errors: ["consumer_exists"],
  async handle({ body, principal, services }) {
    return json(201, await createConsumer(services, { name: body.name, principal }));
  },
});

export const changeConsumerRoute = defineRoute({
  method: "patch",
  path: "/v1/consumers/{id}",
  operationId: "changeConsumer",
  ...consumerRoute,
  summary: "Change what a consumer may do",
  description:
    "Sets the scopes of a consumer, its rate limit (null: the default), or both; its keys follow within a second. A key changes only consumers whose scopes and rate limit are no more than its own, before and after. Without locations:any it finds only the consumers that its own location created.",
  request: {
    params: z.object({ id: z.guid().meta({ description: "Id of the consumer" }) }),
    body: jsonBody(ChangeConsumer, {
      example: { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
    }),
  },
  responses: { 200: { description: "The consumer as it is now", schema: Consumer } },
  errors: ["consumer_not_found", "rate_limit_forbidden"],
  async handle({ params, body, principal, services, context }) {
    return json(200, await changeConsumer(services, { id: params.id, change: body, principal, context }));
  },
});

const query = z.object({
  ...pageQuery,
  locationId: locationInQuery("Only the keys of this location"),
});

const keyRoute = { tag: "Keys", audience: "operator", scope: "keys:write" } as const;

export const listKeysRoute = defineRoute({
  method: "get",
  path: "/v1/auth/keys/",
  operationId: "listApiKeys",
  ...keyRoute,
  summary: "List API keys",
  description:
    "The keys, newest first, revoked ones too: how each begins, whose it is, and when it was last used; never the key itself. A key without locations:any sees those of its own location only.",
  request: { query },
  responses: { 200: { description: "A page of keys", schema: pageOf(ApiKey) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const locationId =
      query.locationId === undefined ? readableLocation(principal) : ownLocation(principal, query.locationId);
    return replyWithNewest({ query, url, origin }, services.db.sql, listOfKeys(services.db.sql, locationId));
  },
});

export const createKeyRoute = defineRoute({
  method: "post",
  path: "/v1/auth/keys/",
  operationId: "createApiKey",
  ...keyRoute,
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
  ...keyRoute,
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
