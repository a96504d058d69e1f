import { randomUUID } from "node:crypto";
import type { WebhookEventName } from "@pragma/contracts/webhook";
import type { WebhookMessageBody, WebhookMessageData } from "@pragma/contracts/webhook-message";
import { type SqlClient, toRecordsetParameter } from "@pragma/runtime/database/postgres";
import { redactPersonalDataInJson } from "@pragma/runtime/messaging/erased-orders";
import { getWebhookClaimLeaseMs } from "../config.ts";
import { batchCalls } from "../deliveries/batch-calls.ts";
import type { WebhookDeliveryScheduler } from "../deliveries/delivery-scheduler.ts";
import type { WebhooksDependencies } from "../dependencies.ts";
import { insertMessages, type NewWebhookMessage } from "../queries/insert-messages.ts";

/** A message for the webhooks that subscribe to its event. */
export interface OutgoingWebhookMessage<Event extends WebhookEventName> {
  /** The id of the message, which is also sent to the receivers. */
  messageId: string;
  event: Event;
  /** When the event occurred, in UTC. */
  time: string;
  sequence: number | null;
  data: WebhookMessageData<Event>;
  traceparent: string;
}

export type WebhookMessageEnqueuer = ReturnType<typeof createWebhookMessageEnqueuer>;

type AddressedMessage = NewWebhookMessage & { webhookIds: readonly string[] };

interface MessageEnqueuerOptions extends Pick<WebhooksDependencies, "db" | "clock" | "config"> {
  scheduler: Pick<WebhookDeliveryScheduler, "reserve" | "poll">;
}

/** Finds the webhooks for events and stores the messages to send, in batches, so that events share SQL queries. */
export function createWebhookMessageEnqueuer({ db, clock, config, scheduler }: MessageEnqueuerOptions) {
  const batchOptions = { maxBatchSize: 50, maxConcurrentBatches: 2 };
  const insertBatched = batchCalls(insertAll, batchOptions);

  /** Starts the attempts of deliveries for which it reserves capacity. Returns for each message whether it is new. */
  async function insertAll(newItems: AddressedMessage[]): Promise<boolean[]> {
    const items = await redactErasedOrders(db.sql, newItems);
    const now = clock();
    const reservedDeliveries = items.flatMap(({ webhookIds, body: text, subject: _, ...message }) => {
      const body = Buffer.from(text);
      return webhookIds.map((webhookId) => ({
        reservation: scheduler.reserve(webhookId),
        delivery: { ...message, createdAt: now, body, deliveryId: randomUUID(), webhookId },
      }));
    });
    const deliveries = reservedDeliveries.map(({ reservation, delivery: { deliveryId, messageId, webhookId } }) => {
      return { deliveryId, messageId, webhookId, isClaimed: reservation !== undefined };
    });
    const leaseExpiresAt = new Date(now.getTime() + getWebhookClaimLeaseMs(config));
    try {
      const inserted = await insertMessages(db.sql, { messages: items, deliveries }, { now, leaseExpiresAt });
      const insertedById = new Map(inserted.map((row) => [row.deliveryId, row]));
      const dueWebhookIds: string[] = [];
      for (const { reservation, delivery } of reservedDeliveries) {
        const { isClaimed, isActive, revision } = insertedById.get(delivery.deliveryId) ?? {};
        if (reservation && isClaimed && revision !== undefined) {
          reservation.startAttempt({ ...delivery, revision, generation: 1, attempt: 1, failures: 0, leaseExpiresAt });
        } else {
          reservation?.cancel();
          if (isActive) dueWebhookIds.push(delivery.webhookId);
        }
      }
      if (dueWebhookIds.length > 0) scheduler.poll(dueWebhookIds);
      const newMessageIds = new Set(inserted.map(({ messageId }) => messageId));
      return items.map(({ messageId }) => newMessageIds.has(messageId));
    } catch (error) {
      for (const { reservation } of reservedDeliveries) reservation?.cancel();
      throw error;
    }
  }

  return {
    /** Returns the ids of the webhooks that subscribe to an event of a location. */
    findSubscribedWebhookIds: batchCalls(async (matches: { locationId: string; event: WebhookEventName }[]) => {
      const rows = await db.sql<{ position: number; id: string }[]>`
        select match.position, w.id
        from rows from (jsonb_to_recordset(${toRecordsetParameter(db.sql, matches)}) as (location_id uuid, event text))
          with ordinality as match (location_id, event, position)
        join webhooks w on w.location_id = match.location_id
        where w.state <> 'deleted' and match.event = any(w.events)`;
      const webhookIdsByMatch = matches.map((): string[] => []);
      for (const { position, id } of rows) webhookIdsByMatch[position - 1]?.push(id);
      return webhookIdsByMatch;
    }, batchOptions),
    /**
     * Stores a message, a delivery for each webhook, and a record that the event was handled. Deliveries to active
     * webhooks are attempted as soon as the endpoint has capacity. Deliveries to paused or disabled webhooks stay
     * pending.
     *
     * @returns false when the event had already been handled.
     */
    enqueueMessage<Event extends WebhookEventName>(
      webhookIds: readonly string[],
      message: OutgoingWebhookMessage<Event>,
    ): Promise<boolean> {
      const { messageId, event, traceparent, data } = message;
      const subject = "id" in data ? data.id : messageId;
      const body = serializeWebhookMessage(message);
      return insertBatched({ messageId, locationId: data.locationId, event, subject, traceparent, body, webhookIds });
    },
  };
}

/** Returns the messages, without personal data if they are about orders that were erased. */
async function redactErasedOrders(sql: SqlClient, messages: AddressedMessage[]): Promise<AddressedMessage[]> {
  const ofOrders = messages.filter(({ event }) => event.startsWith("order."));
  if (ofOrders.length === 0) return messages;
  const erased = await sql<{ locationId: string; orderId: string }[]>`
    select location_id, order_id from erased_orders
    where (location_id, order_id) in (
      select * from unnest(
        ${ofOrders.map(({ locationId }) => locationId)}::uuid[], ${ofOrders.map(({ subject }) => subject)}::uuid[]
      )
    )`;
  if (erased.length === 0) return messages;
  const keys = new Set(erased.map(({ locationId, orderId }) => `${locationId} ${orderId}`));
  return messages.map((message) =>
    keys.has(`${message.locationId} ${message.subject}`)
      ? { ...message, body: redactPersonalDataInJson(message.body) }
      : message,
  );
}

/** Returns the body of a message as JSON text. */
export function serializeWebhookMessage(message: OutgoingWebhookMessage<WebhookEventName>): string {
  const { messageId, event, time, sequence, data } = message;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookMessageBody);
}
