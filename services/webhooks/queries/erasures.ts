import type { Transaction } from "@pragma/runtime/postgres";

interface Text {
  id: string;
  body: string;
}

/** The messages to a location's webhooks that tell of these orders. */
export async function listToldOf(
  tx: Transaction,
  { locationId, orderIds }: { locationId: string; orderIds: string[] },
): Promise<Text[]> {
  return tx<Text[]>`
    select id, body from messages
    where id in (
      select d.message_id from webhooks w join deliveries d on d.webhook_id = w.id
      where w.location_id = ${locationId} and d.event like 'order.%'
    ) and body::json #>> '{data,id}' = any(${orderIds}::text[])`;
}

/** Puts a text in the place of a message's, and forgets what was answered to it, which may repeat it. */
export async function putErasedMessage(tx: Transaction, { id, body }: Text): Promise<void> {
  await tx`update messages set body = ${body} where id = ${id}`;
  await tx`
    update attempts set response = null
    where response is not null and delivery_id in (select id from deliveries where message_id = ${id})`;
}

/** Events about these orders that could not be handled and wait for an operator. */
export async function listParkedAbout(tx: Transaction, { orderIds }: { orderIds: string[] }): Promise<Text[]> {
  return tx<Text[]>`
    select event_id as id, body from parked_messages
    where subject = any(${orderIds}::text[]) and type like 'order.%'`;
}

export async function putErasedParked(tx: Transaction, { id, body }: Text): Promise<void> {
  await tx`update parked_messages set body = ${body} where event_id = ${id}`;
}
