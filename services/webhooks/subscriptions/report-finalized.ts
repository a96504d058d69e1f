import { on } from "@pragma/runtime/subscription";
import { emit } from "../emit.ts";
import { listenersTo } from "../queries/webhooks.ts";
import type { Webhooks } from "../webhooks.ts";

/** A till has its report: told to the webhooks of its location, each revision of the till anew. */
export const reportFinalized = on<Webhooks, "report.finalized">(
  "report.finalized",
  async ({ eventId, time, data, services, once }) => {
    await once(async (tx) => {
      const event = "report.finalized";
      const listeners = await listenersTo(tx, data.locationId, event);
      await emit(services, tx, listeners, { messageId: eventId, event, time, sequence: data.revision, data });
    });
  },
);
