import { randomUUID } from "node:crypto";
import type { RequestContext } from "@pragma/runtime/request-context";
import { messageBody } from "./message-batcher.ts";
import type { DeliveryRow } from "./queries/deliveries.ts";
import { insertMessages } from "./queries/insert-messages.ts";
import type { WebhookRow } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** Sends a test message to a webhook, also when it is paused or disabled. It is sent once. */
export async function sendTest(
  { db, clock, wake }: Pick<Webhooks, "db" | "clock" | "wake">,
  { webhook, context }: { webhook: Pick<WebhookRow, "id" | "locationId">; context: RequestContext },
): Promise<DeliveryRow> {
  const { id: webhookId, locationId } = webhook;
  const { traceparent } = context;
  const [id, messageId, event, now] = [randomUUID(), randomUUID(), "test" as const, clock()];
  const data = { locationId, webhookId, message: "It works." };
  const body = messageBody({ messageId, event, time: now.toISOString(), sequence: null, data, traceparent });
  const deliveries = [{ deliveryId: id, webhookId, isClaimed: false }];
  await insertMessages(db.sql, [{ messageId, event, body, traceparent, deliveries }], { now, lapsesAt: now });
  wake.tests();
  return { id, createdAt: now, webhookId, messageId, event, state: "pending", nextAttemptAt: now, settledAt: null };
}
