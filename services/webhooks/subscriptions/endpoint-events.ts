import { on } from "@pragma/runtime/subscription";
import { otherEndpoints } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** What becomes of an endpoint that fails is sent to the recipient's other endpoints, whatever they have subscribed to. */
export const endpointEvents = [
  on<Webhooks, "endpoint.failing">(
    "endpoint.failing",
    async ({ eventId: messageId, time, data, services: { db, messages }, context: { traceparent } }) => {
      const listeners = await otherEndpoints(db.sql, data.webhookId, data.endpointUrl);
      const message = { messageId, event: "endpoint.failing", time, sequence: null, data, traceparent } as const;
      return messages.send(listeners, message);
    },
    { isBatched: true },
  ),
  on<Webhooks, "endpoint.disabled">(
    "endpoint.disabled",
    async ({ eventId: messageId, time, data, services: { db, messages }, context: { traceparent } }) => {
      const listeners = await otherEndpoints(db.sql, data.webhookId, data.endpointUrl);
      const message = { messageId, event: "endpoint.disabled", time, sequence: null, data, traceparent } as const;
      return messages.send(listeners, message);
    },
    { isBatched: true },
  ),
];
