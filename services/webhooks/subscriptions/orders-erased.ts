import { redactPersonalData } from "@pragma/contracts/personal-data";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { onEvent } from "@pragma/runtime/messaging/subscription";
import type { WebhooksContext } from "../context.ts";

const eraseBody = (body: string) => JSON.stringify(redactPersonalData(JSON.parse(body)));

/**
 * The personal data of orders is to be erased: from what was sent or waits to be, from what receivers answered, which
 * may repeat it, and from events that could not be handled and wait for an operator.
 */
export const eraseWebhookOrderData = onEvent<WebhooksContext, "orders.erased">(
  "orders.erased",
  async ({ data, services, once }) => {
    const { locationId, orderIds } = data;
    await fillSubjects(services.db.sql);
    await once(async (tx) => {
      const messages = await tx<{ id: string; body: string }[]>`
      select id, body from messages
      where subject = any(${orderIds}::uuid[]) and body::json #>> '{data,locationId}' = ${locationId}`;
      for (const { id, body } of messages) {
        await tx`update messages set body = ${eraseBody(body)} where id = ${id}`;
        await tx`
        update attempts set response = null
        where response is not null and delivery_id in (select id from deliveries where message_id = ${id})`;
      }
      const deadLetters = await tx<{ id: string; body: string }[]>`
      select event_id as id, body from parked_messages
      where subject = any(${orderIds}::text[]) and type like 'order.%'`;
      for (const { id, body } of deadLetters) {
        await tx`update parked_messages set body = ${eraseBody(body)} where event_id = ${id}`;
      }
    });
  },
);

const portion = 1_000;

/** Fills in the subjects of messages that versions wrote which had none. Once no such version runs, it is not needed. */
async function fillSubjects(sql: SqlClient): Promise<void> {
  const fill = () => sql`
    update messages set subject = coalesce((body::json #>> '{data,id}')::uuid, id)
    where id in (select id from messages where subject is null limit ${portion} for update)`;
  while ((await fill()).count === portion);
}
