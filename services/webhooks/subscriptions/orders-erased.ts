import type { SqlClient } from "@pragma/runtime/database/postgres";
import { recordErasedOrders } from "@pragma/runtime/messaging/erased-orders";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { WebhooksServiceContext } from "../context.ts";
import { eraseOrdersInMessages } from "../erase-orders.ts";
import { createLocationConditions, type WhenLocated } from "../queries/message-location-backfill.ts";

/**
 * Erases the personal data of orders, and records their ids, so that messages about earlier events that arrive later are
 * stored and sent without it.
 */
export const webhookOrderRedactionSubscription = defineEventSubscription<WebhooksServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, services: { db }, once }) => {
    const located = await createLocationConditions(db);
    await fillMissingSubjects(db.sql, located);
    await once(async (tx) => {
      await recordErasedOrders(tx, { locationId, orderIds });
      await eraseOrdersInMessages(tx, located, { locationId, orderIds });
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
