import { randomUUID } from "node:crypto";
import type { SentEvent } from "@pragma/contracts/webhook";
import type { WebhookBody, WebhookData } from "@pragma/contracts/webhook-body";
import { isTransient } from "@pragma/runtime/transient-error";
import { batched } from "./delivering/batched.ts";
import type { Reservation } from "./delivering/scheduler.ts";
import { type InsertedDelivery, insertMessages, type NewMessage } from "./queries/insert-messages.ts";
import { type EventMatch, findListeners, type Listener } from "./queries/webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

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
  /** The webhooks that listen to an event at a location. */
  findListeners(match: EventMatch): Promise<Listener[]>;
  /**
   * Writes a message and a delivery of it for each listener, and that its event was handled; then they are on their way.
   * Those of webhooks that are paused or disabled wait.
   *
   * @returns false when the event was handled before.
   */
  send<Event extends SentEvent>(listeners: readonly Listener[], message: Message<Event>): Promise<boolean>;
}

type Written = { isNew: boolean } | { error: unknown };

type Batching = Pick<Webhooks, "db" | "clock" | "wake" | "claimedFor">;

export function openMessageBatcher({ db, clock, wake, claimedFor }: Batching): MessageBatcher {
  const find = batched((matches: EventMatch[]) => findListeners(db.sql, matches), { size: 50, atATime: 2 });
  const write = batched(writeAll, { size: 50, atATime: 2 });

  /** What cannot be written must keep no other from being written. */
  async function writeAll(items: Item[]): Promise<Written[]> {
    const reservations = new Map<string, Reservation>();
    const messages = items.map(({ listeners, ...message }) => ({
      ...message,
      deliveries: listeners.map(({ id: webhookId, isActive }) => {
        const deliveryId = randomUUID();
        const reservation = isActive ? wake.reserve(webhookId) : undefined;
        if (reservation) reservations.set(deliveryId, reservation);
        return { deliveryId, webhookId, isClaimed: reservation !== undefined };
      }),
    }));
    try {
      const now = clock();
      const inserted = await insertMessages(db.sql, messages, { now, lapsesAt: new Date(now.getTime() + claimedFor) });
      const due = messages.flatMap((message) =>
        beginClaimed(message, inserted.get(message.messageId) ?? [], reservations),
      );
      if (due.length > 0) wake.deliveries(due);
      return messages.map(({ messageId }) => ({ isNew: inserted.has(messageId) }));
    } catch (error) {
      if (items.length === 1 || isTransient(error)) return items.map(() => ({ error }));
      return (await Promise.all(items.map((item) => writeAll([item])))).flat();
    } finally {
      for (const reservation of reservations.values()) reservation.cancel();
    }
  }

  return {
    findListeners: find,
    async send(listeners, message) {
      const { messageId, event, traceparent } = message;
      const written = await write({ messageId, event, traceparent, body: messageBody(message), listeners });
      if ("error" in written) throw written.error;
      return written.isNew;
    },
  };
}

/** Makes the first attempts that room was reserved for, and returns the webhooks that others are due of. */
function beginClaimed(
  { messageId, event, body, traceparent }: NewMessage,
  inserted: InsertedDelivery[],
  reservations: Map<string, Reservation>,
): string[] {
  const due: string[] = [];
  for (const { deliveryId, webhookId, revision, isClaimed, isActive } of inserted) {
    const reservation = reservations.get(deliveryId);
    if (isClaimed && reservation) {
      reservations.delete(deliveryId);
      const first = { generation: 1, attempt: 1, failures: 0 };
      reservation.begin({ ...first, deliveryId, webhookId, revision, messageId, event, body, traceparent });
    } else if (isActive) due.push(webhookId);
  }
  return due;
}

interface Item extends Omit<NewMessage, "deliveries"> {
  listeners: readonly Listener[];
}

/** What is sent, as JSON text. */
export function messageBody<Event extends SentEvent>(message: Message<Event>): string {
  const { messageId, event, time, sequence, data } = message;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookBody);
}
