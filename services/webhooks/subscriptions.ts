import { buildEReportId } from "@pragma/contracts/e-report-id";
import type { WebhookEventName } from "@pragma/contracts/webhook";
import { toWebhookOrder } from "@pragma/contracts/webhook-message";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { v5 as uuidV5 } from "uuid";
import { recordChange, recordReportChange } from "./changes/record-change.ts";
import type { WebhooksServiceContext } from "./context.ts";
import { ordersErasedSubscription } from "./erase-orders.ts";
import type { OutgoingWebhookMessage } from "./messages/message-enqueuer.ts";

/**
 * Sends a message to the webhooks that subscribe to its event, and returns whether the message is new. Without such
 * webhooks, does not record the event as handled, because handling it again has no effect. This saves most writes,
 * because most locations have no webhooks.
 */
async function enqueueForSubscribers<Event extends WebhookEventName>(
  { messageEnqueuer }: WebhooksServiceContext,
  message: OutgoingWebhookMessage<Event>,
): Promise<boolean> {
  const { event, data } = message;
  const orderId = event.startsWith("order.") && "id" in data ? data.id : null;
  const subscribers = await messageEnqueuer.findSubscribers({ locationId: data.locationId, event, orderId });
  return subscribers.webhookIds.length > 0 && messageEnqueuer.enqueueMessage(subscribers, message);
}

const orderEventSubscriptions = (["order.call", "order.paid", "order.canceled", "order.transferred"] as const).map(
  (event) =>
    defineEventSubscription<WebhooksServiceContext, typeof event>(
      event,
      ({ eventId: messageId, time, data: { sequence, order }, services, context: { traceparent } }) =>
        enqueueForSubscribers(services, { messageId, event, time, sequence, data: toWebhookOrder(order), traceparent }),
      // The concurrency is high, so that events that arrive together are inserted in one batch.
      { concurrency: 32 },
    ),
);

const dayEventSubscriptions = (["day.closed", "day.incomplete"] as const).map((event) =>
  defineEventSubscription<WebhooksServiceContext, typeof event>(
    event,
    ({ eventId: messageId, time, data, services, context: { traceparent } }) =>
      enqueueForSubscribers(services, { messageId, event, time, sequence: data.dayRevision, data, traceparent }),
  ),
);

const eReportEventSubscriptions = (["e_report.ready", "e_report.changed"] as const).map((event) =>
  defineEventSubscription<WebhooksServiceContext, typeof event>(
    event,
    async ({ eventId, time, data, services, once, context: { traceparent } }) => {
      const change = {
        locationId: data.locationId,
        type: "e_report",
        id: buildEReportId(data),
        changedAt: time,
      } as const;
      const isRecorded = await once((tx) => recordChange(tx, services, change));
      // The inbox has the id of the event, because the change was recorded.
      const messageId = uuidV5("message", eventId);
      const message = { messageId, event, time, sequence: null, data, traceparent };
      return (await enqueueForSubscribers(services, message)) || isRecorded;
    },
  ),
);

/**
 * Adds a report to the change feed, and sends `report.finalized` to the webhooks that subscribe to it. Sends
 * `report.replaced`, too, if this is not the first revision of the till.
 */
const reportFinalizedSubscription = defineEventSubscription<WebhooksServiceContext, "report.finalized">(
  "report.finalized",
  async ({ eventId, time, data: { isErased, ...data }, services, context: { traceparent } }) => {
    const kind = isErased ? "erased" : "stored";
    const isRecorded = await recordReportChange(services, { ...data, changedAt: time, kind });
    const message = { time, sequence: data.revision, data, traceparent };
    const results = await Promise.all([
      enqueueForSubscribers(services, { ...message, messageId: eventId, event: "report.finalized" }),
      // A message of its own, because a webhook can subscribe to both.
      data.revision > 1 &&
        enqueueForSubscribers(services, {
          ...message,
          messageId: uuidV5("report.replaced", eventId),
          event: "report.replaced",
        }),
    ]);
    return isRecorded || results.includes(true);
  },
);

/** Changes of reports are stored without the inbox, because the feed has their revision. */
const changeFeedSubscriptions = [
  defineEventSubscription<WebhooksServiceContext, "report.removed">("report.removed", ({ data, time, services }) =>
    recordReportChange(services, { ...data, kind: "removed", changedAt: time, orderIds: [] }),
  ),
  defineEventSubscription<WebhooksServiceContext, "till.expired">("till.expired", ({ data, time, services }) =>
    recordReportChange(services, { ...data, kind: "expired", changedAt: time, orderIds: [] }),
  ),
  ...(["catalog.updated", "location.updated"] as const).map((event) =>
    defineEventSubscription<WebhooksServiceContext, typeof event>(event, ({ data, time, services, once }) => {
      const type = event === "catalog.updated" ? "catalog" : "location";
      const { locationId } = data;
      return once((tx) => recordChange(tx, services, { locationId, type, id: locationId, changedAt: time }));
    }),
  ),
];

/** Notifies a recipient's other endpoints that an endpoint is failing or disabled, whether or not they subscribe. */
const endpointEventSubscriptions = (["endpoint.failing", "endpoint.disabled"] as const).map((event) =>
  defineEventSubscription<WebhooksServiceContext, typeof event>(
    event,
    async ({ eventId: messageId, time, data, services: { db, messageEnqueuer }, context: { traceparent } }) => {
      // Selects only active webhooks, and only one webhook per endpoint, so that each endpoint receives one message.
      const otherWebhooks = await db.sql<{ id: string }[]>`
        select distinct on (other.endpoint_url) other.id
        from webhooks w
        join webhooks other on other.location_id = w.location_id and other.recipient_id = w.recipient_id
        where w.location_id = ${data.locationId} and w.id = ${data.webhookId} and other.state = 'active' and other.endpoint_url <> ${data.endpointUrl}
        order by other.endpoint_url, other.created_at, other.id`;
      const webhookIds = otherWebhooks.map(({ id }) => id);
      const message = { messageId, event, time, sequence: null, data, traceparent };
      return messageEnqueuer.enqueueMessage({ webhookIds, isErased: false }, message);
    },
  ),
);

export const webhooksSubscriptions = [
  ...orderEventSubscriptions,
  ...dayEventSubscriptions,
  ...eReportEventSubscriptions,
  reportFinalizedSubscription,
  ...changeFeedSubscriptions,
  ...endpointEventSubscriptions,
  ordersErasedSubscription,
];
