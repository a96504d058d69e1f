import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { type LocationOrderIds, redactPersonalDataInJson } from "@pragma/runtime/messaging/erased-orders";
import { getMessageDay } from "./queries/message-days.ts";

/**
 * Erases the personal data of orders from sent and pending messages and from dead letters. Also deletes the stored
 * responses of endpoints to these messages, because the responses may repeat the data.
 */
export async function eraseOrdersInMessages(
  tx: SqlTransaction,
  { locationId, orderIds }: LocationOrderIds,
): Promise<void> {
  const ids = orderIds as string[];
  const ofLocation = tx`location_id = ${locationId}`;
  const messages = await tx<{ id: string; body: string; createdAt: Date }[]>`
    select id, body, created_at from webhook_messages
    where ${ofLocation} and subject = any(${ids}::uuid[])`;
  for (const { id, body, createdAt } of messages) {
    const ofDay = tx`created_on = ${getMessageDay(createdAt)}::date`;
    const redactedBody = redactPersonalDataInJson(body);
    if (redactedBody !== body)
      await tx`
        update webhook_messages set body = ${redactedBody} where ${ofLocation} and id = ${id} and ${ofDay}`;
    await tx`
      update attempts set response = null
      where ${ofLocation} and ${ofDay} and response is not null
        and delivery_id in (select id from webhook_deliveries where ${ofLocation} and message_id = ${id})`;
  }
  const deadLetters = await tx<{ id: string; body: string }[]>`
    select event_id as id, body from dead_letters where subject = any(${ids}::text[]) and type like 'order.%'`;
  for (const { id, body } of deadLetters)
    await tx`update dead_letters set body = ${redactPersonalDataInJson(body)} where event_id = ${id}`;
}
