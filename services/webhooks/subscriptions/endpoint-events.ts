import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { WebhooksServiceContext } from "../context.ts";

/** Notifies a recipient's other endpoints that an endpoint is failing or disabled, whether or not they subscribe. */
export const endpointFailureEventSubscriptions = (["endpoint.failing", "endpoint.disabled"] as const).map((event) =>
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
      return messageEnqueuer.enqueueMessage(webhookIds, { messageId, event, time, sequence: null, data, traceparent });
    },
  ),
);
