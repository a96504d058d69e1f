import { Webhook } from "@pragma/contracts/webhook";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { changeWebhookState } from "../change-webhook-state.ts";
import { defineRoute } from "../webhooks.ts";
import { webhookParams } from "./params.ts";

export const pauseWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/pause",
  operationId: "pauseWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Pause a webhook",
  description:
    "Sends nothing more to its endpoint, but for what is under way. What comes to pass in the meantime is kept, and sent once the webhook is resumed.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services }) {
    const which = { id: params.id, locationId: readableLocation(principal) };
    return json(200, await changeWebhookState(services, { ...which, state: "paused" }));
  },
});
