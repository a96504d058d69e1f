import type { SentEvent } from "@pragma/contracts/webhook";
import type { Sql } from "@pragma/runtime/postgres";

/** A message as it is sent: for an event it has the event's id. */
export interface NewMessage {
  messageId: string;
  event: SentEvent;
  body: string;
  /** Of what the message tells of (W3C). */
  traceparent: string;
  deliveries: NewDelivery[];
}

interface NewDelivery {
  deliveryId: string;
  webhookId: string;
  /** Whether this process has room to make the first attempt at once. */
  isClaimed: boolean;
}

/** A delivery of a message that is new. */
export interface InsertedDelivery extends NewDelivery {
  /** Whether its webhook is. */
  isActive: boolean;
  /** Of the webhook as it is now. */
  revision: number;
}

/** JSON has it in no place unescaped. */
const separator = "\u0001";

/**
 * Inserts messages with their deliveries, and that their events were handled, and returns the deliveries of each message
 * by its id. Those that are claimed have a lease, if the webhook is active; the others are due at once. Messages whose
 * event was handled before are left alone.
 */
export async function insertMessages(
  sql: Sql,
  messages: NewMessage[],
  { now, lapsesAt }: { now: Date; lapsesAt: Date },
): Promise<Map<string, InsertedDelivery[]>> {
  // In one order, so that two that write the same at the same time wait for each other in turn.
  const sorted = messages.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
  const deliveries = sorted.flatMap(({ messageId, deliveries }) => deliveries.map((each) => ({ messageId, ...each })));
  const isSending = sql`(given.is_claimed = 1 and w.state = 'active')`;
  const rows = await sql<({ messageId: string } & (InsertedDelivery | { deliveryId: null }))[]>`
    with given_message as (
      select * from unnest(
        ${sorted.map(({ messageId }) => messageId)}::uuid[], ${sorted.map(({ event }) => event)}::text[],
        ${sorted.map(({ traceparent }) => traceparent)}::text[],
        -- As one text, which is not quoted as the elements of an array are.
        string_to_array(${sorted.map(({ body }) => body).join(separator)}, ${separator})
      ) as given_message (id, event, traceparent, body)
    ), noted as (
      insert into inbox (event_id, subscription) select id, event from given_message
      on conflict do nothing returning event_id
    ), message as (
      insert into messages (id, body, traceparent, created_at)
      select m.id, m.body, m.traceparent, ${now} from given_message m join noted on noted.event_id = m.id
      on conflict (id) do nothing
    ), delivery as (
      insert into deliveries (
        id, webhook_id, message_id, event, state, generation, attempt, failures, due_at, created_at
      )
      select
        given.id, given.webhook_id, m.id, m.event, case when ${isSending} then 'sending' else 'pending' end, 1, 1, 0,
        case when ${isSending} then ${lapsesAt}::timestamptz else ${now} end, ${now}
      from unnest(
        ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[],
        ${deliveries.map(({ webhookId }) => webhookId)}::uuid[],
        ${deliveries.map(({ messageId }) => messageId)}::uuid[],
        -- The client knows no arrays of booleans.
        ${deliveries.map(({ isClaimed }) => Number(isClaimed))}::int[]
      ) as given (id, webhook_id, message_id, is_claimed)
      join given_message m on m.id = given.message_id
      join noted on noted.event_id = m.id
      join webhooks w on w.id = given.webhook_id and w.state <> 'deleted'
      on conflict (message_id, webhook_id) do nothing
      returning id, message_id, webhook_id, state
    )
    select
      noted.event_id as "messageId", d.id as "deliveryId", d.webhook_id as "webhookId",
      d.state = 'sending' as "isClaimed", w.state = 'active' as "isActive", w.revision
    from noted left join delivery d on d.message_id = noted.event_id left join webhooks w on w.id = d.webhook_id`;
  const inserted = new Map<string, InsertedDelivery[]>(rows.map(({ messageId }) => [messageId, []]));
  for (const row of rows) if (row.deliveryId !== null) inserted.get(row.messageId)?.push(row);
  return inserted;
}
