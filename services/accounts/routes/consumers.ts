import { ChangeConsumer, Consumer, CreateConsumer } from "@pragma/contracts/consumer";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { jsonBody } from "@pragma/runtime/define-route";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { changeConsumer, createConsumer } from "../consumers.ts";
import { listConsumers } from "../queries/consumers.ts";

export const listConsumersRoute = defineRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
  summary: "List consumers",
  description:
    "The consumers with their scopes and rate limits, newest first. A key without locations:any sees those that its own location created.",
  request: { query: z.object(pageQuery) },
  responses: { 200: { description: "A page of consumers", schema: pageOf(Consumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const locationId = readableLocation(principal);
    return replyWithPage({ query, url, origin }, (range) => listConsumers(services.db, { locationId }, range));
  },
});

export const createConsumerRoute = defineRoute({
  method: "post",
  path: "/v1/consumers/",
  operationId: "createConsumer",
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
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
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
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
