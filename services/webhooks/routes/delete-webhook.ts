import { readableLocation } from "@pragma/runtime/own-location";
import { deleteWebhook } from "../delete-webhook.ts";
import { defineRoute } from "../webhooks.ts";
import { webhookParams } from "./params.ts";

export const deleteWebhookRoute = defineRoute({
  method: "delete",
  path: "/v1/webhooks/{id}",
  operationId: "deleteWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Delete a webhook",
  description:
    "Deletes a webhook with the log of its deliveries. Nothing is sent any more, not even what was due. Pause it instead to have that sent later.",
  request: { params: webhookParams },
  responses: { 204: { description: "The webhook is deleted" } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services }) {
    await deleteWebhook(services, { id: params.id, locationId: readableLocation(principal) });
    return { status: 204, body: null, headers: {} };
  },
});
