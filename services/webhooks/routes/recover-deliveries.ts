import { RecoverDeliveries, Recovery } from "@pragma/contracts/delivery";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { beginRecovery } from "../recover-deliveries.ts";
import { defineRoute } from "../webhooks.ts";
import { knownWebhook } from "./known-webhook.ts";
import { webhookParams } from "./params.ts";

export const recoverDeliveriesRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/recover",
  operationId: "recoverDeliveries",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Make again what failed",
  description:
    "Makes again every delivery of events since a time that failed for good, or failed and waits for another attempt. It takes its time in the background: get the recovery to see how far it is. The messages have the same ids as before.",
  request: { params: webhookParams, body: jsonBody(RecoverDeliveries) },
  responses: { 202: { description: "The recovery, which has begun", schema: Recovery } },
  errors: ["webhook_not_found"],
  async handle({ params, body, principal, services }) {
    const { id: webhookId } = await knownWebhook(services, { id: params.id, principal });
    return json(202, await beginRecovery(services, { webhookId, since: body.since }));
  },
});
