import { randomUUID } from "node:crypto";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { WebhookBody, WebhookData } from "@pragma/contracts/webhook-body";
import { afterCommit, type Transaction } from "@pragma/runtime/postgres";
import { firstAttempts, jobOf, type WebhookJob } from "./delivering/announce.ts";
import { type DeliveryRow, insertMessage } from "./queries/deliveries.ts";
import type { Listener } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

/** What is to be told, to whoever listens. */
export interface Telling<Event extends SentEvent> {
  /** Of the message, as receivers see it. */
  messageId: string;
  event: Event;
  /** When it came to pass, in UTC. */
  time: string;
  sequence: number | null;
  data: WebhookData<Event>;
  /** Of its cause (W3C). */
  traceparent: string;
}

/**
 * Writes down a message, once, and a delivery of it for each listener. Once the transaction has committed they are on
 * their way; those of webhooks that are paused or disabled wait.
 *
 * @returns the deliveries, in the order of the listeners.
 */
export async function emit<Event extends SentEvent>(
  { clock, announce, bodies }: Pick<Webhooks, "clock" | "announce" | "bodies">,
  tx: Transaction,
  listeners: readonly Listener[],
  telling: Telling<Event>,
): Promise<DeliveryRow[]> {
  if (listeners.length === 0) return [];
  const { messageId, event, traceparent } = telling;
  const now = clock();
  const body = messageBody(telling);
  const deliveries = listeners.map(({ id, isActive }) => ({ id: randomUUID(), webhookId: id, isActive }));
  await insertMessage(tx, { id: messageId, body, event, now, traceparent }, deliveries);
  const due = deliveries.filter(({ isActive }) => isActive).map(({ id, webhookId }) => ({ deliveryId: id, webhookId }));
  if (due.length > 0) {
    afterCommit(tx, () => {
      bodies.note({ id: messageId, body, traceparent });
      const jobs = event === "test" ? due.map(testOf) : [firstAttempts(messageId, due)];
      void announce(jobs.map((job) => ({ ...job, traceparent })));
    });
  }
  return deliveries.map(({ id, webhookId }) => ({
    id,
    createdAt: now,
    webhookId,
    messageId,
    event,
    state: "pending",
    nextAttemptAt: now,
    settledAt: null,
  }));
}

function testOf({ deliveryId, webhookId }: { deliveryId: string; webhookId: string }): WebhookJob {
  return jobOf("test", webhookId, { deliveryId, generation: 1, attempt: 1 });
}

/** What is sent, as JSON text. */
export function messageBody<Event extends SentEvent>(telling: Telling<Event>): string {
  const { messageId, event, time, sequence, data } = telling;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookBody);
}
