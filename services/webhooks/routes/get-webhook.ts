import { WebhookDetails } from "@pragma/contracts/webhook";
import { taggedByContent } from "@pragma/runtime/reply";
import { findStatistics } from "../queries/statistics.ts";
import { defineRoute } from "../webhooks.ts";
import { knownWebhook } from "./known-webhook.ts";
import { webhookParams } from "./params.ts";

export const getWebhookRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/{id}",
  operationId: "getWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Get a webhook",
  description: "A webhook, with how its deliveries go.",
  request: { params: webhookParams },
  responses: {
    200: { description: "The webhook", schema: WebhookDetails },
    304: { description: "The client has it already" },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await knownWebhook(services, { id: params.id, principal });
    const statistics = await findStatistics(services.db.sql, webhook.id, services.clock());
    return taggedByContent(JSON.stringify({ ...webhook, statistics }), { ifNoneMatch: header("if-none-match") });
  },
});
