import { on } from "@pragma/runtime/subscription";
import type { Webhooks } from "../webhooks.ts";

/** A till has its report: told to the webhooks of its location, each revision of the till anew. */
export const reportFinalized = on<Webhooks, "report.finalized">(
  "report.finalized",
  async ({ eventId, time, data, services: { messages }, context }) => {
    const event = "report.finalized";
    const listeners = await messages.findListeners({ locationId: data.locationId, event });
    if (listeners.length === 0) return false;
    const { traceparent } = context;
    const message = { messageId: eventId, event, time, sequence: data.revision, data, traceparent } as const;
    return messages.send(listeners, message);
  },
  { isBatched: true },
);
