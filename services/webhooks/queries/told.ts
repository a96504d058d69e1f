import type { SentEvent } from "@pragma/contracts/webhook";
import type { Sql } from "@pragma/runtime/postgres";

/** What is told of an event of this service's subscriptions: the message has the event's id. */
export interface Told {
  messageId: string;
  event: SentEvent;
  body: string;
  /** Of what it tells of (W3C). */
  traceparent: string;
  deliveries: { deliveryId: string; webhookId: string }[];
}

/** JSON has it in no place unescaped. */
const separator = "\u0001";

/**
 * Writes down messages with their deliveries, due at once, and that their events were handled. Those whose event was
 * handled before are left alone.
 *
 * @returns the ids of the messages that are new.
 */
export async function insertTold(sql: Sql, told: Told[], now: Date): Promise<Set<string>> {
  // In one order, so that whoever writes the same at the same time waits, and neither waits for the other.
  const sorted = told.toSorted((one, other) => (one.messageId < other.messageId ? -1 : 1));
  const deliveries = sorted.flatMap(({ messageId, deliveries }) =>
    deliveries.map((delivery) => ({ messageId, ...delivery })),
  );
  const rows = await sql<{ messageId: string }[]>`
    with told as (
      select * from unnest(
        ${sorted.map(({ messageId }) => messageId)}::uuid[], ${sorted.map(({ event }) => event)}::text[],
        ${sorted.map(({ traceparent }) => traceparent)}::text[],
        -- As one text, which is not quoted as the elements of an array are.
        string_to_array(${sorted.map(({ body }) => body).join(separator)}, ${separator})
      ) as told (id, event, traceparent, body)
    ), noted as (
      insert into inbox (event_id, subscription) select id, event from told
      on conflict do nothing returning event_id
    ), message as (
      insert into messages (id, body, traceparent, created_at)
      select told.id, body, traceparent, ${now} from told join noted on noted.event_id = told.id
      on conflict (id) do nothing
    ), delivery as (
      insert into deliveries (
        id, webhook_id, message_id, event, state, generation, attempt, failures, due_at, created_at
      )
      select given.id, given.webhook_id, told.id, told.event, 'pending', 1, 1, 0, ${now}, ${now}
      from unnest(
        ${deliveries.map(({ deliveryId }) => deliveryId)}::uuid[],
        ${deliveries.map(({ webhookId }) => webhookId)}::uuid[], ${deliveries.map(({ messageId }) => messageId)}::uuid[]
      ) as given (id, webhook_id, message_id)
      join told on told.id = given.message_id join noted on noted.event_id = told.id
      where exists (select 1 from webhooks where id = given.webhook_id and state <> 'deleted')
      on conflict (message_id, webhook_id) do nothing
    )
    select event_id as "messageId" from noted`;
  return new Set(rows.map(({ messageId }) => messageId));
}
