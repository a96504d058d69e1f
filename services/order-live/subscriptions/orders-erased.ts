import { deleteResponsesWithOrders } from "@pragma/runtime/http/idempotency";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { recordErasedOrders, redactPersonalDataInJson } from "@pragma/runtime/messaging/erased-orders";
import { redactUnsentOrderEvents } from "@pragma/runtime/messaging/outbox";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { OrderLiveServiceContext } from "../context.ts";
import { lockStreamPosition } from "../queries/streams.ts";

/** Erases the personal data of orders wherever this service stores it, and from later updates. */
export const liveOrderRedactionSubscription = defineEventSubscription<OrderLiveServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, once }) => {
    await once(async (tx) => {
      // Waits for upserts that have not read the recorded ids, and their stored responses.
      await lockStreamPosition(tx, locationId);
      await recordErasedOrders(tx, { locationId, orderIds });
      const liveOrders = await tx<{ id: string; body: string }[]>`
        select id, body from live_orders
        where location_id = ${locationId} and id = any(${orderIds}::uuid[]) and body is not null for update`;
      for (const { id, body } of liveOrders) {
        const redactedBody = redactPersonalDataInJson(body);
        await tx`
          update live_orders set body = ${redactedBody}, etag = ${computeEntityTag(redactedBody)}
          where location_id = ${locationId} and id = ${id}`;
      }
      const revisions = await tx<{ position: number; body: string }[]>`
        select position, body from order_revisions
        where location_id = ${locationId} and order_id = any(${orderIds}::uuid[]) for update`;
      for (const { position, body } of revisions) {
        await tx`
          update order_revisions set body = ${redactPersonalDataInJson(body)}
          where location_id = ${locationId} and position = ${position}`;
      }
      await redactUnsentOrderEvents(tx, { locationId, orderIds });
      await deleteResponsesWithOrders(tx, { locationId, orderIds });
    });
  },
);
