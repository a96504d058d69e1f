import type { EventData } from "@pragma/contracts/events";
import { toWebhookOrder, type WebhookData } from "@pragma/contracts/webhook-message";
import { type EventSubscription, onEvent } from "@pragma/runtime/messaging/subscription";
import type { WebhooksContext } from "../context.ts";

type OrderEvent = "order.call" | "order.paid" | "order.canceled" | "order.transferred";

/** What happens at a location is told to its webhooks that listen to it. */
function createLocationEventSubscription<Event extends OrderEvent | "report.finalized">(
  event: Event,
  toMessageContent: (data: EventData<Event>) => { sequence: number; data: WebhookData<Event> },
  { concurrency }: { concurrency: number },
): EventSubscription<WebhooksContext> {
  return onEvent<WebhooksContext, Event>(
    event,
    async ({ eventId: messageId, time, data, services: { messageBatcher }, context: { traceparent } }) => {
      const webhookIds = await messageBatcher.findSubscribedWebhookIds({ locationId: data.locationId, event });
      // Most locations have none: there is nothing to write down, not even that it was handled.
      if (webhookIds.length === 0) return false;
      const message = { messageId, event, time, traceparent, ...toMessageContent(data) };
      return messageBatcher.enqueueMessage(webhookIds, message);
    },
    { isBatched: true, concurrency },
  );
}

export const locationEventSubscriptions = [
  ...(["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
    // What comes together is written together.
    createLocationEventSubscription(event, ({ sequence, order }) => ({ sequence, data: toWebhookOrder(order) }), {
      concurrency: 32,
    }),
  ),
  createLocationEventSubscription("report.finalized", (data) => ({ sequence: data.revision, data }), {
    concurrency: 8,
  }),
];
