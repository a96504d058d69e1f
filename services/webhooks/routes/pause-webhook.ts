import { Webhook } from "@pragma/contracts/webhook";
import { json } from "@pragma/runtime/reply";
import { changeWebhookState } from "../change-webhook-state.ts";
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
  async handle({ params, principal, services }) {
    return json(200, await changeWebhookState(services, readable(params, principal), "paused"));
  },
});
