import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { OrderLiveServiceContext } from "../context.ts";
import { removeLiveOrdersOfFinalTill } from "../finish-till.ts";

/** Removes the orders of a closed till from the live orders once the till's report is final. */
export const removeReportedSubscription = defineEventSubscription<OrderLiveServiceContext, "report.finalized">(
  "report.finalized",
  async ({ data, services, context: { traceparent }, once }) => {
    await once(async (tx) => {
      const position = await removeLiveOrdersOfFinalTill(tx, data, { config: services.config, traceparent });
      runAfterCommit(tx, () => services.broadcaster.notify(data.locationId, position));
    });
  },
);
