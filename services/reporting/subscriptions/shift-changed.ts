import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { ReportingContext } from "../context.ts";
import { storeOrdersWithoutTill, storeShiftChange } from "../days/queries/shifts.ts";
import { updateDays } from "../days/update-days.ts";
import { recordChangedDays } from "../e-reporting/queries/figures.ts";

/** Stores that a shift has live orders, or has none anymore, and computes its business day again. */
export const shiftChangeSubscription = defineEventSubscription<ReportingContext, "shift.changed">(
  "shift.changed",
  async ({ data, services: { db }, context: { traceparent }, once }) => {
    await once(async (tx) => {
      const { locationId } = data;
      await lockInTransaction(tx, db, `location ${locationId}`);
      const days = [...(await storeShiftChange(tx, data)), ...(await storeOrdersWithoutTill(tx, data))];
      if (days.length === 0) return;
      await recordLocationWrite(tx, locationId);
      const changed = await updateDays(tx, { locationId, days, updatedAt: new Date().toISOString(), traceparent });
      await recordChangedDays(tx, { locationId, days: changed });
    });
  },
);
