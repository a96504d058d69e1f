import type { WebhookEventName } from "@pragma/contracts/webhook";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { getMessageDay } from "./deliveries.ts";

/** A message to store. The message of an event has the same id as the event. */
export interface NewWebhookMessage {
  messageId: string;
  locationId: string;
  event: WebhookEventName;
  body: string;
  /** The id of the order in the body; the id of the message when the body contains no order. */
  subject: string;
  traceparent: string;
}

interface NewWebhookDelivery {
  deliveryId: string;
  messageId: string;
  webhookId: string;
  /** Whether this process has reserved capacity for the first attempt. */
  isClaimed: boolean;
}

/** A stored message with one of its deliveries. `deliveryId` is null if the message has no deliveries. */
interface InsertedWebhookMessage {
  messageId: string;
  deliveryId: string | null;
  isClaimed: boolean;
  isActive: boolean;
  revision: number;
}

/** The character that separates joined bodies. It never occurs inside a body, because JSON escapes this character. */
const bodySeparator = "\u0001";

/**
 * Inserts messages and their deliveries, and records that their events were handled. Claimed deliveries of active
 * webhooks get a lease; other deliveries are due immediately. Skips messages whose event has already been handled.
 *
 * @returns one row per inserted delivery, and one row per message without deliveries.
 */
export async function insertMessages(
  sql: SqlClient,
  { messages, deliveries }: { messages: NewWebhookMessage[]; deliveries: NewWebhookDelivery[] },
  { now, leaseExpiresAt }: { now: Date; leaseExpiresAt: Date },
): Promise<InsertedWebhookMessage[]> {
  // Messages are sorted, so that two transactions insert the same messages in the same sequence and cannot deadlock.
  const sorted = messages.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
  const deliveryRows = deliveries.map(({ deliveryId, webhookId, messageId, isClaimed }) => {
    return { delivery_id: deliveryId, webhook_id: webhookId, message_id: messageId, is_claimed: isClaimed };
  });
  const isSending = sql`(input.is_claimed and w.state = 'active')`;
  return sql<InsertedWebhookMessage[]>`
    with input_message as (
      select * from unnest(
        ${sorted.map(({ messageId }) => messageId)}::uuid[], ${sorted.map(({ locationId }) => locationId)}::uuid[],
        ${sorted.map(({ event }) => event)}::text[],
        ${sorted.map(({ traceparent }) => traceparent)}::text[], ${sorted.map(({ subject }) => subject)}::uuid[],
        -- The bodies are joined into one text, because parsing them from JSON would double the cost per message.
        string_to_array(${sorted.map(({ body }) => body).join(bodySeparator)}, ${bodySeparator})
      ) as message (message_id, location_id, event, traceparent, subject, body)
    ), new_event as (
      insert into inbox (event_id, subscription) select message_id, event from input_message
      on conflict do nothing returning event_id
    ), message as (
      insert into webhook_messages (location_id, id, created_on, subject, body, traceparent, created_at)
      select m.location_id, m.message_id, ${getMessageDay(now)}::date, m.subject, m.body, m.traceparent, ${now}
      from input_message m join new_event on event_id = m.message_id
      on conflict do nothing
    ), delivery as (
      insert into webhook_deliveries (
        location_id, id, webhook_id, message_id, event, state, generation, attempt, failures, due_at, created_at
      )
      select
        w.location_id, input.delivery_id, w.id, m.message_id, m.event,
        case when ${isSending} then 'sending' else 'pending' end,
        1, 1, 0, case when ${isSending} then ${leaseExpiresAt}::timestamptz else ${now} end, ${now}
      from jsonb_to_recordset(${sql.json(deliveryRows)})
        as input (delivery_id uuid, webhook_id uuid, message_id uuid, is_claimed boolean)
      join input_message m on m.message_id = input.message_id
      join new_event on new_event.event_id = m.message_id
      join webhooks w on w.location_id = m.location_id and w.id = input.webhook_id and w.state <> 'deleted'
      on conflict do nothing
      returning location_id, id, message_id, webhook_id, state
    )
    select
      new_event.event_id as message_id, d.id as delivery_id,
      d.state = 'sending' as is_claimed, w.state = 'active' as is_active, w.revision
    from new_event
    left join delivery d on d.message_id = new_event.event_id
    left join webhooks w on w.location_id = d.location_id and w.id = d.webhook_id`;
}
