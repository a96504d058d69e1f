import { toWebhookOrder } from "@pragma/contracts/webhook-body";
import { on } from "@pragma/runtime/subscription";
import { emit } from "../emit.ts";
import { listenersTo } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** How many events of one type are handled at a time: each waits for little more than its commit. */
const concurrency = 16;

/** An order's events are told to the webhooks of its location. */
export const orderEvents = (["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
  on<Webhooks, typeof event>(
    event,
    async ({ eventId, time, data: { locationId, sequence, order }, services, once }) => {
      const listeners = await listenersTo(services.db.sql, locationId, event);
      // Most locations have none: there is nothing to write down, not even that it was handled.
      if (listeners.length === 0) return;
      const data = toWebhookOrder(order);
      await once(async (tx) => {
        await emit(services, tx, listeners, { messageId: eventId, event, time, sequence, data });
      });
    },
    { concurrency },
  ),
);
