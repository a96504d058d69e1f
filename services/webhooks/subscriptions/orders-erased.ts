import { recordErasedOrders } from "@pragma/runtime/messaging/erased-orders";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { WebhooksServiceContext } from "../context.ts";
import { eraseOrdersInMessages } from "../erase-orders.ts";

/**
 * Erases the personal data of orders, and records their ids, so that messages about earlier events that arrive later are
 * stored and sent without it.
 */
export const webhookOrderRedactionSubscription = defineEventSubscription<WebhooksServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, orderIds }, once }) => {
    await once(async (tx) => {
      await recordErasedOrders(tx, { locationId, orderIds });
      await eraseOrdersInMessages(tx, { locationId, orderIds });
    });
  },
);
