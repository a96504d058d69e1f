import { ApiConsumer, ChangeApiConsumerRequest, CreateApiConsumerRequest } from "@pragma/contracts/api-consumer";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { getReadRestrictionLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { applyConsumerChange, createApiConsumer } from "../consumers.ts";
import { defineAccountsRoute } from "../context.ts";
import { consumerColumns, isCreatedByLocation } from "../queries/consumers.ts";
import { containsText, nameFilterQueryParameter } from "./name-filter.ts";

const consumerRouteDefaults = { tag: "Consumers", audience: "operator", scope: "consumers:write" } as const;

const listConsumersQuery = z.object({
  ...paginationQueryShape,
  name: nameFilterQueryParameter("Returns only consumers whose name contains this text, in upper or lower case."),
});

export const listConsumersRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  ...consumerRouteDefaults,
  summary: "List consumers",
  description:
    "Returns the consumers with their scopes and rate limits, newest first. Without the scope `locations:any`, the list contains only the consumers that belong to the calling key's location.",
  request: { query: listConsumersQuery },
  responses: { 200: { description: "A page of consumers, newest first", schema: paginatedSchema(ApiConsumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = getReadRestrictionLocationId(principal);
    const { sql } = services.db;
    const isVisible = locationId === null ? sql`true` : isCreatedByLocation(sql, locationId);
    const where = sql`${isVisible} and ${containsText(sql, sql`coalesce(display_name, name)`, query.name)}`;
    const list = { columns: consumerColumns(sql), table: sql`consumers`, where };
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

export const createApiConsumerRoute = defineAccountsRoute({
  method: "post",
  path: "/v1/consumers/",
  operationId: "createConsumer",
  ...consumerRouteDefaults,
  summary: "Create a consumer",
  description:
    "Creates a consumer. A consumer is an application or integrator that uses the API. Its initial scopes are `reports:read`, `orders:read`, `catalog:read`, `locations:read` and `usage:read`, except for those that the calling key does not have. Its initial rate limit is the default, or the rate limit of the calling key if that is lower. You can change the scopes and the rate limit later. The consumer belongs to the calling key's location, or to the operators if the calling key has the scope `locations:any`. Its name must be unique among the consumers of that location or of the operators.",
  request: { body: createValidatingJsonBodyParser(CreateApiConsumerRequest, { example: { name: "Acme" } }) },
  responses: { 201: { description: "The new consumer, with its initial scopes and rate limit", schema: ApiConsumer } },
  errors: ["consumer_exists", "limit_reached"],
  async handle({ body, principal, services, audit }) {
    return jsonResponse(201, await createApiConsumer(services, { name: body.name, principal, audit }));
  },
});

export const changeApiConsumerRoute = defineAccountsRoute({
  method: "patch",
  path: "/v1/consumers/{id}",
  operationId: "changeConsumer",
  ...consumerRouteDefaults,
  summary: "Change a consumer",
  description:
    "Changes the scopes of a consumer, its rate limit, or both. Set `rateLimit` to `null` to restore the default rate limit. The change applies to the consumer's keys within one second. Before and after the change, the scopes and the rate limit of the consumer must not exceed those of the calling key. Without the scope `locations:any`, you can change only consumers that belong to the calling key's location.",
  request: {
    params: z.object({ id: z.guid().meta({ description: "ID of the consumer" }) }),
    body: createValidatingJsonBodyParser(ChangeApiConsumerRequest, {
      example: { scopes: ["reports:read", "tills:write"], rateLimit: { perSecond: 100, burst: 400 } },
    }),
  },
  responses: { 200: { description: "The consumer after the change", schema: ApiConsumer } },
  errors: ["consumer_not_found", "rate_limit_forbidden", "quota_exceeded"],
  async handle({ params, body, principal, services, audit }) {
    return jsonResponse(200, await applyConsumerChange(services, { id: params.id, change: body, principal, audit }));
  },
});
