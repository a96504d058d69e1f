import { randomUUID } from "node:crypto";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { WebhookBody, WebhookData } from "@pragma/contracts/webhook-message";
import { leaseMs } from "./config.ts";
import { batched } from "./delivering/batched.ts";
import type { Scheduler } from "./delivering/scheduler.ts";
import { insertMessages, type NewMessage } from "./queries/insert-messages.ts";
import { type EventMatch, findListeners } from "./queries/webhooks.ts";
import type { Foundation } from "./webhooks.ts";

/** What is sent to whoever listens. */
export interface Message<Event extends SentEvent> {
  /** As receivers see it. */
  messageId: string;
  event: Event;
  /** When it came to pass, in UTC. */
  time: string;
  sequence: number | null;
  data: WebhookData<Event>;
  /** Of its cause (W3C). */
  traceparent: string;
}

/** Sends messages, of as many events at a time as come at a time: each by itself would cost four queries. */
export interface MessageBatcher {
  /** Returns the ids of the webhooks that listen to an event at a location. */
  findListeners(match: EventMatch): Promise<string[]>;
  /**
   * Writes a message and a delivery of it for each webhook, and that its event was handled; then they are on their way.
   * Those of webhooks that are paused or disabled wait.
   *
   * @returns false when the event was handled before.
   */
  send<Event extends SentEvent>(webhookIds: readonly string[], message: Message<Event>): Promise<boolean>;
}

interface BatcherOptions extends Pick<Foundation, "db" | "clock" | "config"> {
  scheduler: Pick<Scheduler, "reserve" | "wake">;
}

interface Item extends NewMessage {
  webhookIds: readonly string[];
}

export function openMessageBatcher({ db, clock, config, scheduler }: BatcherOptions): MessageBatcher {
  const find = batched((matches: EventMatch[]) => findListeners(db.sql, matches), { size: 50, concurrency: 2 });
  const write = batched(writeAll, { size: 50, concurrency: 2 });

  /** Tells of each message whether it is new. */
  async function writeAll(items: Item[]): Promise<boolean[]> {
    const messages = items.map(({ webhookIds: _, ...message }) => message);
    const reserved = items.flatMap(({ webhookIds, messageId, event, body: text, traceparent }) => {
      const body = Buffer.from(text);
      return webhookIds.map((webhookId) => ({
        reservation: scheduler.reserve(webhookId),
        delivery: { deliveryId: randomUUID(), messageId, webhookId, event, body, traceparent },
      }));
    });
    const deliveries = reserved.map(({ reservation, delivery: { deliveryId, messageId, webhookId } }) => {
      return { deliveryId, messageId, webhookId, isClaimed: reservation !== undefined };
    });
    const now = clock();
    const lapsesAt = new Date(now.getTime() + leaseMs(config));
    try {
      const inserted = await insertMessages(db.sql, { messages, deliveries }, { now, lapsesAt });
      const byId = new Map(inserted.map((row) => [row.deliveryId, row]));
      const due: string[] = [];
      for (const { reservation, delivery } of reserved) {
        const { isClaimed, isActive, revision } = byId.get(delivery.deliveryId) ?? {};
        if (reservation && isClaimed && revision !== undefined) {
          reservation.begin({ ...delivery, revision, generation: 1, attempt: 1, failures: 0, lapsesAt });
        } else {
          reservation?.cancel();
          if (isActive) due.push(delivery.webhookId);
        }
      }
      if (due.length > 0) scheduler.wake(due);
      const isNew = new Set(inserted.map(({ messageId }) => messageId));
      return items.map(({ messageId }) => isNew.has(messageId));
    } catch (error) {
      for (const { reservation } of reserved) reservation?.cancel();
      throw error;
    }
  }

  return {
    findListeners: find,
    send(webhookIds, message) {
      const { messageId, event, traceparent, data } = message;
      const subject = "id" in data ? data.id : messageId;
      return write({ messageId, event, subject, traceparent, body: messageBody(message), webhookIds });
    },
  };
}

/** What is sent, as JSON text. */
export function messageBody<Event extends SentEvent>(message: Message<Event>): string {
  const { messageId, event, time, sequence, data } = message;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookBody);
}
