import { toWebhookOrder } from "@pragma/contracts/webhook-message";
import { defineEventSubscription, type EventSubscription } from "@pragma/runtime/messaging/subscription";
import { v5 as uuidV5 } from "uuid";
import { recordReportChange } from "../changes/record-change.ts";
import type { WebhooksServiceContext } from "../context.ts";

type OrderEvent = "order.call" | "order.paid" | "order.canceled" | "order.transferred";
type DayEvent = "day.closed" | "day.incomplete";

/** Returns the subscription that sends an order event of a location to the webhooks that subscribe to that event. */
function createOrderEventSubscription<Event extends OrderEvent>(
  event: Event,
): EventSubscription<WebhooksServiceContext> {
  return defineEventSubscription<WebhooksServiceContext, Event>(
    event,
    async ({ eventId: messageId, time, data, services: { messageEnqueuer }, context: { traceparent } }) => {
      const { locationId, sequence, order } = data;
      const webhookIds = await messageEnqueuer.findSubscribedWebhookIds({ locationId, event });
      // Does not record the event as handled, because handling it again has no effect. This saves most writes, because
      // most locations have no webhooks.
      if (webhookIds.length === 0) return false;
      const message = {
        messageId,
        event: event as OrderEvent,
        time,
        traceparent,
        sequence,
        data: toWebhookOrder(order),
      };
      return messageEnqueuer.enqueueMessage(webhookIds, message);
    },
    // The concurrency is high, so that events that arrive together are inserted in one batch.
    { concurrency: 32 },
  );
}

/** Returns the subscription that sends a change of a business day's state to the webhooks that subscribe to it. */
function createDayEventSubscription(event: DayEvent): EventSubscription<WebhooksServiceContext> {
  return defineEventSubscription<WebhooksServiceContext, DayEvent>(
    event,
    async ({ eventId: messageId, time, data, services: { messageEnqueuer }, context: { traceparent } }) => {
      const webhookIds = await messageEnqueuer.findSubscribedWebhookIds({ locationId: data.locationId, event });
      if (webhookIds.length === 0) return false;
      const message = { messageId, event, time, traceparent, sequence: data.dayRevision, data };
      return messageEnqueuer.enqueueMessage(webhookIds, message);
    },
    { concurrency: 8 },
  );
}

/**
 * Adds a report to the change feed, and sends `report.finalized` to the webhooks that subscribe to it. Sends
 * `report.replaced`, too, if this is not the first revision of the till.
 */
const reportFinalizedSubscription = defineEventSubscription<WebhooksServiceContext, "report.finalized">(
  "report.finalized",
  async ({ eventId, time, data: { isErased, ...data }, services, context: { traceparent } }) => {
    const { messageEnqueuer } = services;
    const { locationId, revision } = data;
    const isRecorded = await recordReportChange(services, {
      ...{ ...data, changedAt: time, kind: isErased ? "erased" : "stored" },
    });
    const enqueue = async (event: "report.finalized" | "report.replaced", messageId: string) => {
      const webhookIds = await messageEnqueuer.findSubscribedWebhookIds({ locationId, event });
      if (webhookIds.length === 0) return false;
      return messageEnqueuer.enqueueMessage(webhookIds, {
        messageId,
        event,
        time,
        traceparent,
        sequence: revision,
        data,
      });
    };
    const results = await Promise.all([
      enqueue("report.finalized", eventId),
      // A message of its own, because a webhook can subscribe to both.
      revision > 1 && enqueue("report.replaced", uuidV5("report.replaced", eventId)),
    ]);
    return isRecorded || results.includes(true);
  },
  { concurrency: 8 },
);

export const orderAndReportEventSubscriptions = [
  ...(["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map((event) =>
    createOrderEventSubscription(event),
  ),
  reportFinalizedSubscription,
  createDayEventSubscription("day.closed"),
  createDayEventSubscription("day.incomplete"),
];
