import { ApiError } from "@pragma/contracts/errors";
import { Webhook } from "@pragma/contracts/webhook";
import { afterCommit } from "@pragma/runtime/postgres";
import { json } from "@pragma/runtime/reply";
import { isWebhook, type WebhookRow, webhookColumns } from "../queries/webhooks.ts";
import { defineRoute } from "../webhooks.ts";
import { readable, webhookParams } from "./params.ts";

export const resumeWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/resume",
  operationId: "resumeWebhook",
  summary: "Resume a webhook",
  description:
    "Sends to the endpoint of a webhook that was paused or disabled again, beginning with what was due in the meantime. Deliveries that had failed for good are made again with recover.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock, delivering } }) {
    const webhook = await db.transaction(async (tx) => {
      const [webhook] = await tx<WebhookRow[]>`
        update webhooks set
          state = 'active', disabled_reason = null, failing_since = null, last_error = null, warned_at = null,
          revision = revision + 1, updated_at = ${clock()}
        where ${isWebhook(tx, readable(params, principal))}
        returning ${webhookColumns(tx)}`;
      if (!webhook) throw new ApiError("webhook_not_found");
      afterCommit(tx, () => delivering.wakeEveryInstance([webhook.id]));
      return webhook;
    });
    return json(200, webhook);
  },
});
