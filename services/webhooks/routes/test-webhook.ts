import { Delivery } from "@pragma/contracts/delivery";
import { deliveryExample } from "@pragma/contracts/examples/webhook";
import { json } from "@pragma/runtime/reply";
import { sendTest } from "../send-test.ts";
import { defineRoute } from "../webhooks.ts";
import { knownWebhook } from "./known-webhook.ts";
import { webhookParams } from "./params.ts";

export const testWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/test",
  operationId: "testWebhook",
  tag: "Webhooks",
  audience: "public",
  scope: "webhooks:write",
  summary: "Send a test message",
  description:
    "Sends a message of the event test to the webhook's endpoint, once, also when the webhook is paused or disabled. Get the delivery to see what was answered.",
  request: { params: webhookParams },
  responses: {
    202: {
      description: "The delivery of the message, which is on its way",
      schema: Delivery,
      example: {
        ...deliveryExample,
        event: "test",
        state: "pending",
        nextAttemptAt: deliveryExample.createdAt,
        settledAt: null,
      },
    },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, context }) {
    const webhook = await knownWebhook(services, { id: params.id, principal });
    return json(202, await sendTest(services, { webhook, context }));
  },
});
