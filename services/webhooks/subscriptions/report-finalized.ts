import { on } from "@pragma/runtime/subscription";
import { emit } from "../emit.ts";
import { listenersTo } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** A till has its report: told to the webhooks of its location, each revision of the till anew. */
export const reportFinalized = on<Webhooks, "report.finalized">(
  "report.finalized",
  async ({ eventId, time, data, services, once }) => {
    const event = "report.finalized";
    const listeners = await listenersTo(services.db.sql, data.locationId, event);
    if (listeners.length === 0) return;
    await once(async (tx) => {
      await emit(services, tx, listeners, { messageId: eventId, event, time, sequence: data.revision, data });
    });
  },
);
