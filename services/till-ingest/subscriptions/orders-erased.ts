import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { eraseTillPersonalData } from "../erase-till.ts";

/** Erases the personal data of orders, or of a whole till, in the till's body. A repeated event changes nothing. */
export const tillOrderRedactionSubscription = defineEventSubscription<TillIngestServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, tillId, orderIds, isWholeTill }, services, context, once }) => {
    const { traceparent } = context;
    if (tillId !== null)
      await eraseTillPersonalData(services, {
        ...{ locationId, tillId, traceparent },
        orderIds: isWholeTill ? null : orderIds,
      });
    await once(async () => {});
  },
  { concurrency: 2, shouldCheckInboxFirst: true },
);
