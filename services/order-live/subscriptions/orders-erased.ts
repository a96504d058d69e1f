import { redactPersonalData } from "@pragma/contracts/personal-data";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { OrderLiveServiceContext } from "../context.ts";

/** Erases the personal data of orders from the live orders and from the change log. */
export const liveOrderRedactionSubscription = defineEventSubscription<OrderLiveServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, once }) => {
    await once(async (tx) => {
      const liveOrders = await tx<{ id: string; body: string }[]>`
        select id, body from live_orders
        where location_id = ${locationId} and id = any(${orderIds}::uuid[]) and body is not null for update`;
      for (const { id, body } of liveOrders) {
        const redactedBody = redactBody(body);
        await tx`
          update live_orders set body = ${redactedBody}, etag = ${computeEntityTag(redactedBody)}
          where location_id = ${locationId} and id = ${id}`;
      }
      const revisions = await tx<{ position: number; body: string }[]>`
        select position, body from order_revisions
        where location_id = ${locationId} and order_id = any(${orderIds}::uuid[]) for update`;
      for (const { position, body } of revisions) {
        await tx`
          update order_revisions set body = ${redactBody(body)}
          where location_id = ${locationId} and position = ${position}`;
      }
    });
  },
);

function redactBody(body: string): string {
  return JSON.stringify(redactPersonalData(JSON.parse(body)));
}
