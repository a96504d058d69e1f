import { randomUUID } from "node:crypto";
import { Delivery } from "@pragma/contracts/delivery";
import { deliveryExample } from "@pragma/contracts/examples/webhook";
import { json } from "@pragma/runtime/reply";
import { messageBody } from "../message-batcher.ts";
import { insertMessages } from "../queries/insert-messages.ts";
import { defineRoute } from "../webhooks.ts";
import { readableWebhook, webhookParams } from "./params.ts";

export const testWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/test",
  operationId: "testWebhook",
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
    const { id: webhookId, locationId } = await readableWebhook(services, params, principal);
    const { db, clock, delivering } = services;
    const { traceparent } = context;
    const [id, messageId, event, now] = [randomUUID(), randomUUID(), "test" as const, clock()];
    const data = { locationId, webhookId, message: "It works." };
    const body = messageBody({ messageId, event, time: now.toISOString(), sequence: null, data, traceparent });
    const messages = [{ messageId, event, body, traceparent }];
    const deliveries = [{ deliveryId: id, messageId, webhookId, isClaimed: false }];
    await insertMessages(db.sql, { messages, deliveries }, { now, lapsesAt: now });
    delivering.tests.wake();
    const delivery = { id, createdAt: now, webhookId, messageId, event };
    return json(202, { ...delivery, state: "pending", nextAttemptAt: now, settledAt: null });
  },
});
