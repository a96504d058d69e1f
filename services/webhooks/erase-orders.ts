import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import {
  type LocationOrderIds,
  recordErasedOrders,
  redactPersonalDataInJson,
} from "@pragma/runtime/messaging/erased-orders";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "./context.ts";
import { getMessageDay } from "./queries/deliveries.ts";

/**
 * Erases the personal data of orders from sent and pending messages and from dead letters. Also deletes the stored
 * responses of endpoints to these messages, because the responses may repeat the data, and the signatures, which do not
 * match the erased messages.
 */
async function eraseOrdersInMessages(tx: SqlTransaction, { locationId, orderIds }: LocationOrderIds): Promise<void> {
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
      update attempts set response = null, signature = null
      where ${ofLocation} and ${ofDay} and (response is not null or signature is not null)
        and delivery_id in (select id from webhook_deliveries where ${ofLocation} and message_id = ${id})`;
  }
  const deadLetters = await tx<{ id: string; body: string }[]>`
    select event_id as id, body from dead_letters where subject = any(${ids}::text[]) and type like 'order.%'`;
  for (const { id, body } of deadLetters)
    await tx`update dead_letters set body = ${redactPersonalDataInJson(body)} where event_id = ${id}`;
}

/** Records the ids of erased orders, too, so that messages about earlier events that arrive later are stored without the data. */
export const ordersErasedSubscription = defineEventSubscription<WebhooksServiceContext, "orders.erased">(
  "orders.erased",
  ({ data, once }) =>
    once(async (tx) => {
      await recordErasedOrders(tx, data);
      await eraseOrdersInMessages(tx, data);
    }),
);

/**
 * Seconds after which an erasure is repeated. Delivery attempts and statements take less time, so those that began before
 * the erasure have stored their data by then.
 */
const repetitionDelaySeconds = 120;

/** Repeats each erasure once, because messages, responses and dead letters can be stored while an erasure runs. */
export const repeatErasuresTask: PeriodicTask<Pick<WebhooksServiceContext, "db">> = {
  name: "repeat erasures",
  intervalSeconds: 300,
  async run({ db }) {
    const isDue = db.sql`
      repeated_at is null and erased_at < now() - make_interval(secs => ${repetitionDelaySeconds})`;
    const locations = await db.sql<{ locationId: string; orderIds: string[] }[]>`
      select location_id, array_agg(order_id) as order_ids from erased_orders where ${isDue} group by location_id`;
    for (const orders of locations)
      await db.transaction(async (tx) => {
        await eraseOrdersInMessages(tx, orders);
        // An order that was erased again meanwhile is due later.
        await tx`
          update erased_orders set repeated_at = now()
          where location_id = ${orders.locationId} and order_id = any(${orders.orderIds}::uuid[]) and ${isDue}`;
      });
  },
};
