import { defineEventSubscription, type EventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { scheduleObjectRemoval } from "../queries/pending-uploads.ts";
import { lockTillRow, recordTillReportResult } from "../queries/tills.ts";

/** Record what became of the report of a till. */
export const reportEventSubscriptions: EventSubscription<TillIngestServiceContext>[] = [
  // A till with a report is not requeued.
  defineEventSubscription("report.finalized", ({ data, once }) => once((tx) => recordTillReportResult(tx, data))),
  // Nor is a till that became a training till and whose report was removed.
  defineEventSubscription("report.removed", ({ data, once }) =>
    once((tx) => recordTillReportResult(tx, { ...data, reportVersion: null })),
  ),
  // The till's response states that the report cannot be computed until there is a result. The sequence of these events
  // does not matter, because a result of the same revision takes precedence.
  defineEventSubscription("report.parked", ({ data: { locationId, tillId, revision, reason }, once }) =>
    once(async (tx) => {
      await tx`
        update tills set parked_revision = ${revision}, parked_reason = ${reason}
        where location_id = ${locationId} and id = ${tillId} and coalesce(parked_revision, 0) <= ${revision}`;
    }),
  ),
  // Removes a till whose report reporting has removed because of its age, and schedules the removal of its bodies.
  defineEventSubscription("till.expired", ({ data: { locationId, tillId, revision }, once }) =>
    once(async (tx) => {
      // Pushes lock the directory row first, too.
      await tx`select from till_directory where till_id = ${tillId} for update`;
      const till = await lockTillRow(tx, { locationId, id: tillId });
      // A later revision gets a report, which expires by itself.
      if (!till || till.revision > revision) return;
      const bodies = await tx<{ objectKey: string; isRemoved: boolean }[]>`
        delete from till_versions where location_id = ${locationId} and till_id = ${tillId}
        returning object_key, body_removed_at is not null as is_removed`;
      await tx`delete from tills where location_id = ${locationId} and id = ${tillId}`;
      await tx`delete from till_directory where till_id = ${tillId} and location_id = ${locationId}`;
      const keys = bodies.filter(({ isRemoved }) => !isRemoved).map(({ objectKey }) => objectKey);
      await scheduleObjectRemoval(tx, keys, { ageHours: 0 });
    }),
  ),
];
