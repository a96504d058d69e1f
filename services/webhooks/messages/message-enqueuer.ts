import { randomUUID } from "node:crypto";
import type { WebhookEventName } from "@pragma/contracts/webhook";
import type { WebhookMessageBody, WebhookMessageData } from "@pragma/contracts/webhook-message";
import { toRecordsetParameter } from "@pragma/runtime/database/postgres";
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

/** An event whose subscribers are searched. `orderId` is null if the event is not about an order. */
interface EventMatch {
  locationId: string;
  event: WebhookEventName;
  orderId: string | null;
}

interface EventSubscribers {
  webhookIds: string[];
  /** Whether the personal data of the event's order was erased before. An erasure that follows is repeated later. */
  isErased: boolean;
}

type AddressedMessage = NewWebhookMessage & { webhookIds: readonly string[] };

interface MessageEnqueuerOptions extends Pick<WebhooksDependencies, "db" | "clock" | "config"> {
  scheduler: Pick<WebhookDeliveryScheduler, "reserve" | "poll">;
}

/** Finds the webhooks for events and stores the messages to send, in batches, so that events share SQL queries. */
export function createWebhookMessageEnqueuer({ db, clock, config, scheduler }: MessageEnqueuerOptions) {
  const batchOptions = { maxBatchSize: 50, maxConcurrentBatches: 2 };
  const insertBatched = batchCalls(insertAll, batchOptions);

  /** Starts the attempts of deliveries for which it reserves capacity. Returns for each message whether it is new. */
  async function insertAll(items: AddressedMessage[]): Promise<boolean[]> {
    const now = clock();
    const reservedDeliveries = items.flatMap(
      ({ messageId, locationId, event, traceparent, webhookIds, body: text }) => {
        const body = Buffer.from(text);
        return webhookIds.map((webhookId) => ({
          reservation: scheduler.reserve(webhookId),
          delivery: {
            ...{ deliveryId: randomUUID(), webhookId, messageId, locationId, event, traceparent, body },
            createdAt: now,
          },
        }));
      },
    );
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
    /**
     * Returns the webhooks that subscribe to an event of a location, and whether the personal data of the event's order
     * was erased.
     */
    findSubscribers: batchCalls(async (matches: EventMatch[]) => {
      const rows = await db.sql<{ position: number; id: string; isErased: boolean }[]>`
        select match.position, w.id, erased.order_id is not null as is_erased
        from rows from (
            jsonb_to_recordset(${toRecordsetParameter(db.sql, matches)}) as (location_id uuid, event text, order_id uuid)
          )
          with ordinality as match (location_id, event, order_id, position)
        join webhooks w on w.location_id = match.location_id
        left join erased_orders erased on erased.location_id = match.location_id and erased.order_id = match.order_id
        where w.state <> 'deleted' and match.event = any(w.events)`;
      const subscribers = matches.map((): EventSubscribers => ({ webhookIds: [], isErased: false }));
      for (const { position, id, isErased } of rows) {
        const ofMatch = subscribers[position - 1];
        ofMatch?.webhookIds.push(id);
        if (ofMatch) ofMatch.isErased = isErased;
      }
      return subscribers;
    }, batchOptions),
    /**
     * Stores a message, a delivery for each webhook, and a record that the event was handled. Deliveries to active
     * webhooks are attempted as soon as the endpoint has capacity. Deliveries to paused or disabled webhooks stay
     * pending. If the order was erased, stores the message without personal data.
     *
     * @returns false when the event had already been handled.
     */
    enqueueMessage<Event extends WebhookEventName>(
      { webhookIds, isErased }: EventSubscribers,
      message: OutgoingWebhookMessage<Event>,
    ): Promise<boolean> {
      const { messageId, event, traceparent, data } = message;
      const subject = "id" in data ? data.id : messageId;
      const text = serializeWebhookMessage(message);
      const body = isErased ? redactPersonalDataInJson(text) : text;
      return insertBatched({ messageId, locationId: data.locationId, event, subject, traceparent, body, webhookIds });
    },
  };
}

/** Returns the body of a message as JSON text. */
export function serializeWebhookMessage(message: OutgoingWebhookMessage<WebhookEventName>): string {
  const { messageId, event, time, sequence, data } = message;
  return JSON.stringify({ meta: { id: messageId, event, emittedAt: time, sequence }, data } as WebhookMessageBody);
}
