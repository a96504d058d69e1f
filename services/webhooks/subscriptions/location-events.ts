import type { EventData } from "@pragma/contracts/events";
import { toWebhookOrder, type WebhookData } from "@pragma/contracts/webhook-message";
import { on, type Subscription } from "@pragma/runtime/subscription";
import type { Webhooks } from "../webhooks.ts";

type OrderEvent = "order.call" | "order.paid" | "order.canceled" | "order.transferred";

/** What happens at a location is told to its webhooks that listen to it. */
function tellListeners<Event extends OrderEvent | "report.finalized">(
  event: Event,
  contentOf: (data: EventData<Event>) => { sequence: number; data: WebhookData<Event> },
  { concurrency }: { concurrency: number },
): Subscription<Webhooks> {
  return on<Webhooks, Event>(
    event,
    async ({ eventId: messageId, time, data, services: { messages }, context: { traceparent } }) => {
      const listeners = await messages.findListeners({ locationId: data.locationId, event });
      // Most locations have none: there is nothing to write down, not even that it was handled.
      if (listeners.length === 0) return false;
      const message = { messageId, event, time, traceparent, ...contentOf(data) };
      return messages.send(listeners, message);
    },
    { isBatched: true, concurrency },
  );
}

export const locationEvents = [
  ...(["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
    // What comes together is written together.
    tellListeners(event, ({ sequence, order }) => ({ sequence, data: toWebhookOrder(order) }), { concurrency: 32 }),
  ),
  tellListeners("report.finalized", (data) => ({ sequence: data.revision, data }), { concurrency: 8 }),
];
