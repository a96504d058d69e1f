import { randomUUID } from "node:crypto";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { WebhookBody, WebhookData } from "@pragma/contracts/webhook-body";
import { afterCommit, type Transaction } from "@pragma/runtime/postgres";
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
  { clock, wake }: Pick<Webhooks, "clock" | "wake">,
  tx: Transaction,
  listeners: readonly Listener[],
  telling: Telling<Event>,
): Promise<DeliveryRow[]> {
  if (listeners.length === 0) return [];
  const { messageId, event, traceparent } = telling;
  const now = clock();
  const body = messageBody(telling);
  const deliveries = listeners.map(({ id }) => ({ id: randomUUID(), webhookId: id }));
  await insertMessage(tx, { id: messageId, body, event, now, traceparent }, deliveries);
  const due = listeners.filter(({ isActive }) => isActive).map(({ id }) => id);
  afterCommit(tx, () => (event === "test" ? wake.tests() : wake.deliveries(due)));
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

/** What is sent, as JSON text. */
export function messageBody<Event extends SentEvent>(telling: Telling<Event>): string {
  const { messageId, event, time, sequence, data } = telling;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookBody);
}
