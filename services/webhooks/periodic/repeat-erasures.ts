import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "../context.ts";
import { eraseOrdersInMessages } from "../erase-orders.ts";

const intervalSeconds = 300;
/**
 * Seconds after which an erasure is repeated. Delivery attempts and statements take less time, so those that began before
 * the erasure have stored their data by then.
 */
const delaySeconds = 120;

/** Repeats each erasure once, because messages, responses and dead letters can be stored while an erasure runs. */
export const repeatErasuresTask: PeriodicTask<Pick<WebhooksServiceContext, "db">> = {
  name: "repeat erasures",
  intervalSeconds,
  async run({ db }) {
    const isDue = db.sql`repeated_at is null and erased_at < now() - make_interval(secs => ${delaySeconds})`;
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
