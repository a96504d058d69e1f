import { toWebhookOrder } from "@pragma/contracts/webhook-body";
import { on } from "@pragma/runtime/subscription";
import type { Webhooks } from "../webhooks.ts";

/** How many events of one type are handled at a time: what comes together is written together. */
const concurrency = 32;

/** An order's events are told to the webhooks of its location. */
export const orderEvents = (["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
  on<Webhooks, typeof event>(
    event,
    async ({ eventId, time, data: { locationId, sequence, order }, services: { messages }, context }) => {
      const listeners = await messages.findListeners({ locationId, event });
      // Most locations have none: there is nothing to write down, not even that it was handled.
      if (listeners.length === 0) return false;
      const data = toWebhookOrder(order);
      const { traceparent } = context;
      const message = { messageId: eventId, event, time, sequence, data, traceparent };
      return messages.send(listeners, message);
    },
    { concurrency, isBatched: true },
  ),
);
