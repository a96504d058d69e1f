import type { WebhookEventName } from "@pragma/contracts/webhook";
import { type SqlClient, toRecordsetParameter } from "@pragma/runtime/database/postgres";

/** A message as it is sent: for an event it has the event's id. */
export interface NewWebhookMessage {
  messageId: string;
  event: WebhookEventName;
  body: string;
  /** The id of the order that it tells of, else its own. */
  subject: string;
  /** Of what the message tells of (W3C). */
  traceparent: string;
}

export interface NewDelivery {
  deliveryId: string;
  messageId: string;
  webhookId: string;
  /** Whether this process has room to make the first attempt at once. */
  isClaimed: boolean;
}

/** A message that is new, and a delivery of it; without one, null. */
interface InsertedWebhookMessage {
  messageId: string;
  deliveryId: string | null;
  isClaimed: boolean;
  /** Whether its webhook is. */
  isActive: boolean;
  /** Of the webhook as it is now. */
  revision: number;
}

/** JSON has it in no place unescaped. */
const bodySeparator = "\u0001";

/**
 * Inserts messages with their deliveries, and that their events were handled. Deliveries that are claimed have a lease,
 * if the webhook is active; the others are due at once. Messages whose event was handled before are left alone.
 *
 * @returns the deliveries that were inserted, and the messages that have none.
 */
export async function insertWebhookMessages(
  sql: SqlClient,
  { messages, deliveries }: { messages: NewWebhookMessage[]; deliveries: NewDelivery[] },
  { now, lapsesAt: leaseExpiresAt }: { now: Date; lapsesAt: Date },
): Promise<InsertedWebhookMessage[]> {
  // In one order, so that two that write the same at the same time wait for each other in turn.
  const sorted = messages.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
  const isSending = sql`(given.is_claimed and w.state = 'active')`;
  return sql<InsertedWebhookMessage[]>`
    with given_message as (
      select * from unnest(
        ${sorted.map(({ messageId }) => messageId)}::uuid[], ${sorted.map(({ event }) => event)}::text[],
        ${sorted.map(({ traceparent }) => traceparent)}::text[], ${sorted.map(({ subject }) => subject)}::uuid[],
        -- As one text: to read it from JSON would double what a message costs PostgreSQL.
        string_to_array(${sorted.map(({ body }) => body).join(bodySeparator)}, ${bodySeparator})
      ) as message (message_id, event, traceparent, subject, body)
    ), noted as (
      insert into inbox (event_id, subscription) select message_id, event from given_message
      on conflict do nothing returning event_id
    ), message as (
      insert into messages (id, subject, body, traceparent, created_at)
      select m.message_id, m.subject, m.body, m.traceparent, ${now} from given_message m join noted on event_id = m.message_id
      on conflict (id) do nothing
    ), delivery as (
      insert into deliveries (
        id, webhook_id, message_id, event, state, generation, attempt, failures, due_at, created_at
      )
      select
        given.delivery_id, w.id, m.message_id, m.event, case when ${isSending} then 'sending' else 'pending' end,
        1, 1, 0, case when ${isSending} then ${leaseExpiresAt}::timestamptz else ${now} end, ${now}
      from jsonb_to_recordset(${toRecordsetParameter(sql, deliveries)})
        as given (delivery_id uuid, webhook_id uuid, message_id uuid, is_claimed boolean)
      join given_message m on m.message_id = given.message_id
      join noted on noted.event_id = m.message_id
      join webhooks w on w.id = given.webhook_id and w.state <> 'deleted'
      on conflict (message_id, webhook_id) do nothing
      returning id, message_id, webhook_id, state
    )
    select
      noted.event_id as message_id, d.id as delivery_id, d.webhook_id,
      d.state = 'sending' as is_claimed, w.state = 'active' as is_active, w.revision
    from noted left join delivery d on d.message_id = noted.event_id left join webhooks w on w.id = d.webhook_id`;
}
