import { redactPersonalData } from "@pragma/contracts/personal-data";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { WebhooksServiceContext } from "../context.ts";
import { getMessageDay } from "../queries/message-days.ts";
import { createLocationConditions, type WhenLocated } from "../queries/message-location-backfill.ts";

const eraseBody = (body: string) => JSON.stringify(redactPersonalData(JSON.parse(body)));

/**
 * Erases the personal data of orders from sent and pending messages and from dead letters. Also deletes the stored
 * responses of endpoints to these messages, because the responses may repeat the data.
 */
export const webhookOrderRedactionSubscription = defineEventSubscription<WebhooksServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data, services, once }) => {
    const { locationId, orderIds } = data;
    const { db } = services;
    const located = await createLocationConditions(db);
    await fillMissingSubjects(db.sql, located);
    await once(async (tx) => {
      const ofLocation = located(tx`location_id = ${locationId}`);
      const messages = await tx<{ id: string; body: string; createdAt: Date }[]>`
        select id, body, created_at from webhook_messages
        where subject = any(${orderIds}::uuid[])
          and coalesce(location_id, (body::json #>> '{data,locationId}')::uuid) = ${locationId}`;
      for (const { id, body, createdAt } of messages) {
        const ofDay = located(tx`created_on = ${getMessageDay(createdAt)}::date`);
        await tx`update webhook_messages set body = ${eraseBody(body)} where ${ofLocation} and id = ${id} and ${ofDay}`;
        await tx`
          update attempts set response = null
          where ${ofLocation} and ${ofDay} and response is not null
            and delivery_id in (select id from webhook_deliveries where ${ofLocation} and message_id = ${id})`;
      }
      const deadLetters = await tx<{ id: string; body: string }[]>`
        select event_id as id, body from dead_letters
        where subject = any(${orderIds}::text[]) and type like 'order.%'`;
      for (const { id, body } of deadLetters) {
        await tx`update dead_letters set body = ${eraseBody(body)} where event_id = ${id}`;
      }
    });
  },
);

const fillBatchSize = 1_000;

/**
 * Sets the subject of messages that earlier versions of the service stored without a subject: the id of the order, or
 * of the message if it contains no order.
 */
async function fillMissingSubjects(sql: SqlClient, located: WhenLocated): Promise<void> {
  const fillBatch = () => sql`
    update webhook_messages m set subject = coalesce((body::json #>> '{data,id}')::uuid, m.id)
    from (
      select location_id, id, created_on from webhook_messages where subject is null limit ${fillBatchSize} for update
    ) batch
    where m.id = batch.id and ${located(sql`m.location_id = batch.location_id and m.created_on = batch.created_on`)}`;
  while ((await fillBatch()).count === fillBatchSize);
}
