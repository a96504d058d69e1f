import { on } from "@pragma/runtime/subscription";
import type { Webhooks } from "../webhooks.ts";

/** What becomes of an endpoint that fails is sent to the recipient's other endpoints, whatever they have subscribed to. */
export const endpointEvents = (["endpoint.failing", "endpoint.disabled"] as const).map((event) =>
  on<Webhooks, typeof event>(
    event,
    async ({ eventId: messageId, time, data, services: { db, messages }, context: { traceparent } }) => {
      // Once each, as far as they are sent to.
      const listeners = await db.sql<{ id: string }[]>`
        select distinct on (other.endpoint_url) other.id
        from webhooks w join webhooks other on other.recipient_id = w.recipient_id
        where w.id = ${data.webhookId} and other.state = 'active' and other.endpoint_url <> ${data.endpointUrl}
        order by other.endpoint_url, other.created_at, other.id`;
      const webhookIds = listeners.map(({ id }) => id);
      return messages.send(webhookIds, { messageId, event, time, sequence: null, data, traceparent });
    },
    { isBatched: true },
  ),
);
