import { onEvent } from "@pragma/runtime/messaging/subscription";
import type { WebhooksContext } from "../context.ts";

/** Notify the recipient's other endpoints of a failing or disabled endpoint, whatever their webhooks subscribe to. */
export const webhookEndpointEventSubscriptions = (["endpoint.failing", "endpoint.disabled"] as const).map((event) =>
  onEvent<WebhooksContext, typeof event>(
    event,
    async ({ eventId: messageId, time, data, services: { db, messageBatcher }, context: { traceparent } }) => {
      // One message per endpoint, of active webhooks only.
      const otherWebhooks = await db.sql<{ id: string }[]>`
        select distinct on (other.endpoint_url) other.id
        from webhooks w join webhooks other on other.recipient_id = w.recipient_id
        where w.id = ${data.webhookId} and other.state = 'active' and other.endpoint_url <> ${data.endpointUrl}
        order by other.endpoint_url, other.created_at, other.id`;
      const webhookIds = otherWebhooks.map(({ id }) => id);
      return messageBatcher.enqueueMessage(webhookIds, { messageId, event, time, sequence: null, data, traceparent });
    },
    { isBatched: true },
  ),
);
