import { Webhook } from "@pragma/contracts/webhook";
import { json } from "@pragma/runtime/reply";
import { changeWebhookState } from "../change-webhook-state.ts";
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
  async handle({ params, principal, services }) {
    return json(200, await changeWebhookState(services, readable(params, principal), "active"));
  },
});
