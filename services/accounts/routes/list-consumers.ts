import { Consumer } from "@pragma/contracts/consumer";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { listConsumers } from "../consumer-queries.ts";
import { replyWithPage } from "../reply-with-page.ts";

export const listConsumersRoute = defineRoute({
  method: "get",
  path: "/v1/consumers/",
  operationId: "listConsumers",
  tag: "Consumers",
  audience: "operator",
  scope: "consumers:write",
  summary: "List consumers",
  description: "The consumers with their scopes and rate limits, newest first.",
  request: { query: z.object(pageQuery) },
  responses: { 200: { description: "A page of consumers", schema: pageOf(Consumer) } },
  errors: ["invalid_page_token"],
  async handle({ query, services, url, origin }) {
    return replyWithPage({ query, url, origin }, (stretch) => listConsumers(services.db, stretch));
  },
});
