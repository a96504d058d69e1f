import { Consumer } from "@pragma/contracts/consumer";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { readableLocation } from "@pragma/runtime/own-location";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
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
