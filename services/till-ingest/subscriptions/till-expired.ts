import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { scheduleObjectRemovalInOneDay } from "../queries/pending-uploads.ts";
import { lockTillId } from "../queries/till-directory.ts";
import { deleteTill, lockTillRow } from "../queries/tills.ts";

/** Removes a till whose report reporting has removed because of its age, and schedules the removal of its bodies. */
export const removeExpiredTillSubscription = defineEventSubscription<TillIngestServiceContext, "till.expired">(
  "till.expired",
  async ({ data: { locationId, tillId, revision }, once }) => {
    await once(async (tx) => {
      // Pushes lock the directory row first, too.
      await lockTillId(tx, tillId);
      const till = await lockTillRow(tx, { locationId, id: tillId });
      // A later revision gets a report, which expires by itself.
      if (!till || till.revision > revision) return;
      for (const key of await deleteTill(tx, till)) await scheduleObjectRemovalInOneDay(tx, key);
    });
  },
);
