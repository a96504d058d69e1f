import { ApiError } from "@pragma/contracts/errors";
import { Webhook } from "@pragma/contracts/webhook";
import { json } from "@pragma/runtime/reply";
import { isWebhook, type WebhookRow, webhookColumns } from "../queries/webhooks.ts";
import { defineRoute } from "../webhooks.ts";
import { readable, webhookParams } from "./params.ts";

export const pauseWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/pause",
  operationId: "pauseWebhook",
  summary: "Pause a webhook",
  description:
    "Sends nothing more to its endpoint, but for what is under way. What comes to pass in the meantime is kept, and sent once the webhook is resumed.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock } }) {
    const [webhook] = await db.transaction(
      (tx) => tx<WebhookRow[]>`
        update webhooks set state = 'paused', disabled_reason = null, revision = revision + 1, updated_at = ${clock()}
        where ${isWebhook(tx, readable(params, principal))}
        returning ${webhookColumns(tx)}`,
    );
    if (!webhook) throw new ApiError("webhook_not_found");
    return json(200, webhook);
  },
});
