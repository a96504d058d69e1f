import type { BusEventData } from "@pragma/contracts/events";
import { toWebhookOrder, type WebhookMessageData } from "@pragma/contracts/webhook-message";
import { defineEventSubscription, type EventSubscription } from "@pragma/runtime/messaging/subscription";
import type { WebhooksServiceContext } from "../context.ts";

type OrderEvent = "order.call" | "order.paid" | "order.canceled" | "order.transferred";
type DayEvent = "day.closed" | "day.incomplete";

/** Returns the subscription that sends an event of a location to the webhooks that subscribe to that event. */
function createLocationEventSubscription<Event extends OrderEvent | "report.finalized" | DayEvent>(
  event: Event,
  toMessageContent: (data: BusEventData<Event>) => { sequence: number; data: WebhookMessageData<Event> },
  { concurrency }: { concurrency: number },
): EventSubscription<WebhooksServiceContext> {
  return defineEventSubscription<WebhooksServiceContext, Event>(
    event,
    async ({ eventId: messageId, time, data, services: { messageEnqueuer }, context: { traceparent } }) => {
      const webhookIds = await messageEnqueuer.findSubscribedWebhookIds({ locationId: data.locationId, event });
      // Does not record the event as handled, because handling it again has no effect. This saves most writes, because
      // most locations have no webhooks.
      if (webhookIds.length === 0) return false;
      const message = { messageId, event, time, traceparent, ...toMessageContent(data) };
      return messageEnqueuer.enqueueMessage(webhookIds, message);
    },
    { isBatched: true, concurrency },
  );
}

export const orderAndReportEventSubscriptions = [
  ...(["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
    // The concurrency is high, so that events that arrive together are inserted in one batch.
    createLocationEventSubscription(event, ({ sequence, order }) => ({ sequence, data: toWebhookOrder(order) }), {
      concurrency: 32,
    }),
  ),
  createLocationEventSubscription("report.finalized", (data) => ({ sequence: data.revision, data }), {
    concurrency: 8,
  }),
  ...(["day.closed", "day.incomplete"] as const).map((event) =>
    createLocationEventSubscription(event, (data) => ({ sequence: data.revision, data }), { concurrency: 8 }),
  ),
];
