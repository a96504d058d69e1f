import { ApiConsumer, ChangeApiConsumerRequest, CreateApiConsumerRequest } from "@pragma/contracts/api-consumer";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { createNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { getReadableLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { changeConsumer, createConsumer } from "../consumers.ts";
import { defineRoute } from "../context.ts";
import { buildConsumerListSql } from "../queries/consumers.ts";

const consumerRouteDefaults = { tag: "Consumers", audience: "operator", scope: "consumers:write" } as const;

export const listConsumersRoute = defineRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  ...consumerRouteDefaults,
  summary: "List consumers",
  description:
    "Returns the consumers with their scopes and rate limits, newest first. A key without locations:any sees only the consumers that its own location created.",
  request: { query: z.object(paginationQueryShape) },
  responses: { 200: { description: "A page of consumers", schema: paginatedSchema(ApiConsumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = getReadableLocationId(principal);
    return createNewestRowsPageResponse(
      { query, url, origin },
      services.db.sql,
      buildConsumerListSql(services.db.sql, locationId),
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
    "Creates a consumer: an integrator or a POS app that gets API keys. It starts with the scopes reports:read, orders:read, catalog:read and locations:read, limited to those of the calling key, and with the default rate limit or that of the calling key, whichever is lower. Change them with PATCH. The consumer belongs to the key's location, or to the operators if the key has locations:any. Its name must be unique among the consumers of its location, or of the operators.",
  request: { body: jsonBodyParser(CreateApiConsumerRequest, { example: { name: "Acme" } }) },
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
  summary: "Change a consumer",
  description:
    "Sets the scopes of a consumer, its rate limit (null means the default), or both. The change applies to its keys within a second. A key can change only consumers whose scopes and rate limit do not exceed its own, before and after the change. Without locations:any it finds only the consumers that its own location created.",
  request: {
    params: z.object({ id: z.guid().meta({ description: "Id of the consumer" }) }),
    body: jsonBodyParser(ChangeApiConsumerRequest, {
      example: { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
    }),
  },
  responses: { 200: { description: "The changed consumer", schema: ApiConsumer } },
  errors: ["consumer_not_found", "rate_limit_forbidden"],
  async handle({ params, body, principal, services, context }) {
    return jsonResponse(200, await changeConsumer(services, { id: params.id, change: body, principal, context }));
  },
});
