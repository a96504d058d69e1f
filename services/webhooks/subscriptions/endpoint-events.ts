import { on } from "@pragma/runtime/subscription";
import { emit } from "../emit.ts";
import { otherEndpoints } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** What becomes of an endpoint that fails is told to the recipient's other endpoints, whatever they have subscribed to. */
export const endpointEvents = [
  on<Webhooks, "endpoint.failing">("endpoint.failing", async ({ eventId, time, data, services, context, once }) => {
    await once(async (tx) => {
      const listeners = await otherEndpoints(tx, data.webhookId, data.endpointUrl);
      const event = "endpoint.failing";
      const { traceparent } = context;
      await emit(services, tx, listeners, { messageId: eventId, event, time, sequence: null, data, traceparent });
    });
  }),
  on<Webhooks, "endpoint.disabled">("endpoint.disabled", async ({ eventId, time, data, services, context, once }) => {
    await once(async (tx) => {
      const listeners = await otherEndpoints(tx, data.webhookId, data.endpointUrl);
      const event = "endpoint.disabled";
      const { traceparent } = context;
      await emit(services, tx, listeners, { messageId: eventId, event, time, sequence: null, data, traceparent });
    });
  }),
];
