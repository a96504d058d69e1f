import { on } from "@pragma/runtime/subscription";
import type { Webhooks } from "../webhooks.ts";

/** A till has its report: told to the webhooks of its location, each revision of the till anew. */
export const reportFinalized = on<Webhooks, "report.finalized">(
  "report.finalized",
  async ({ eventId: messageId, time, data, services: { messages }, context: { traceparent }, onceTogether }) => {
    const event = "report.finalized";
    const listeners = await messages.findListeners({ locationId: data.locationId, event });
    if (listeners.length === 0) return;
    const message = { messageId, event, time, sequence: data.revision, data, traceparent } as const;
    await onceTogether(() => messages.send(listeners, message));
  },
  { isBatched: true },
);
