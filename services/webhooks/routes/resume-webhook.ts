import { Webhook } from "@pragma/contracts/webhook";
import { readableLocation } from "@pragma/runtime/own-location";
import { json } from "@pragma/runtime/reply";
import { changeWebhookState } from "../change-webhook-state.ts";
import { defineRoute } from "../webhooks.ts";
import { webhookParams } from "./params.ts";

export const resumeWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/resume",
  operationId: "resumeWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Resume a webhook",
  description:
    "Sends to the endpoint of a webhook that was paused or disabled again, beginning with what was due in the meantime. Deliveries that had failed for good are made again with recover.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services }) {
    const which = { id: params.id, locationId: readableLocation(principal) };
    return json(200, await changeWebhookState(services, { ...which, state: "active" }));
  },
});
