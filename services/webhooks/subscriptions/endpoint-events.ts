import { on } from "@pragma/runtime/subscription";
import { otherEndpoints } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** What becomes of an endpoint that fails is sent to the recipient's other endpoints, whatever they have subscribed to. */
export const endpointEvents = (["endpoint.failing", "endpoint.disabled"] as const).map((event) =>
  on<Webhooks, typeof event>(
    event,
    async ({ eventId: messageId, time, data, services: { db, messages }, context: { traceparent }, onceTogether }) => {
      const listeners = await otherEndpoints(db.sql, data.webhookId, data.endpointUrl);
      await onceTogether(() => messages.send(listeners, { messageId, event, time, sequence: null, data, traceparent }));
    },
    { isBatched: true },
  ),
);
