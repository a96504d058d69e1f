import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { Webhook } from "@pragma/contracts/webhook";
import { ownLocation } from "@pragma/runtime/own-location";
import { z } from "zod";
import { replyWithNewest } from "../queries/rows.ts";
import { type WebhookRow, webhookColumns } from "../queries/webhooks.ts";
import { defineRoute } from "../webhooks.ts";
import { locationQuery } from "./params.ts";

export const listWebhooksRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/",
  operationId: "listWebhooks",
  summary: "List webhooks",
  description: "The webhooks of the location, newest first.",
  request: { query: z.object({ ...locationQuery, ...pageQuery }) },
  responses: { 200: { description: "A page of webhooks", schema: pageOf(Webhook) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = ownLocation(principal, query.locationId);
    const where = sql`location_id = ${locationId} and state <> 'deleted'`;
    return replyWithNewest<WebhookRow>({ query, url, origin }, sql, {
      columns: webhookColumns(sql),
      table: sql`webhooks`,
      where,
    });
  },
});
