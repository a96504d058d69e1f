import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { isRemovedLocationError } from "@pragma/runtime/retries/transient-error";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../context.ts";
import { deleteDaysBefore } from "../days/queries/days.ts";
import type { UnpackingServices } from "../documents/packing/unpack-till.ts";
import { assertTillCanBeDeleted, withUnpackedTills } from "../documents/packing/with-unpacked-tills.ts";
import { findReportOfTill, listTillsWithReportBefore } from "../documents/queries/reports.ts";
import { listTillsWithoutReportBefore, type TillKey } from "../documents/queries/tills.ts";
import { deleteDocumentsOfTill } from "../store-report.ts";

const batchSize = 200;
/** The task ends if it cannot remove more tills, because something else is then probably wrong. */
const maxFailedTills = 200;

let removalErrorCount = 0;

/** Returns how often this process could not remove an expired till. */
export const countTillRemovalErrors = (): number => removalErrorCount;

type RemovalServices = UnpackingServices & Pick<ReportingContext, "config" | "log">;

/**
 * Removes the tills of business days that are older than the retention, and tills in training mode that were pushed that
 * long ago. Publishes `till.expired` for each, so that till-ingest removes them too. A till that cannot be removed does
 * not delay others, and is tried again in the next run.
 */
export const removeExpiredTillsTask: PeriodicTask<RemovalServices> = {
  name: "remove expired tills",
  // The task reads the counts of all days.
  intervalSeconds: 6 * 3_600,
  // The first run after `REPORTS_KEPT_YEARS` was set removes the tills of years.
  timeoutSeconds: 6 * 3_600,
  async run(services, context, signal) {
    const { db, log, config } = services;
    const years = config.REPORTS_KEPT_YEARS;
    if (years === undefined) return;
    const before = new Date();
    before.setUTCFullYear(before.getUTCFullYear() - years);
    const beforeDay = before.toISOString().slice(0, 10);
    const traceparent = context?.traceparent;
    let removed = 0;
    const skippedTillIds: string[] = [];
    /** Removes all tills that `listBatch` returns. It must return neither removed nor skipped tills again. */
    const removeAll = async (listBatch: () => Promise<TillKey[]>) => {
      for (let count = batchSize; count === batchSize; ) {
        const tills = await listBatch();
        count = tills.length;
        for (const till of tills) {
          signal?.throwIfAborted();
          try {
            if (await removeExpiredTill(services, { ...till, beforeDay, traceparent })) removed += 1;
          } catch (error) {
            skippedTillIds.push(till.tillId);
            if (isRemovedLocationError(error)) continue;
            removalErrorCount += 1;
            if (skippedTillIds.length > maxFailedTills) throw error;
            log.error({ err: error, ...till }, "an expired till could not be removed");
          }
        }
      }
    };
    for (const partition of await listPartitionNames(db.sql, "day_counts")) {
      const locations = await db.sql<{ locationId: string }[]>`
        select distinct location_id from ${db.sql(partition)}
        where kind = 'report' and day < ${beforeDay}::text::date and count > 0`;
      for (const { locationId } of locations) {
        const range = { locationId, beforeDay, skippedTillIds, limit: batchSize };
        await removeAll(() => listTillsWithReportBefore(db.sql, range));
        await db.sql`
          delete from day_counts
          where location_id = ${locationId} and day < ${beforeDay}::text::date and count = 0`;
      }
    }
    const withoutReport = { before: beforeDay, skippedTillIds, limit: batchSize };
    for (const partition of await listPartitionNames(db.sql, "tills"))
      await removeAll(() => listTillsWithoutReportBefore(db.sql, partition, withoutReport));
    await deleteDaysBefore(db, beforeDay);
    if (removed > 0) log.info({ tills: removed, beforeDay }, "removed expired tills");
  },
};

/** Removes a till, unless it has a newer day by now. Returns whether it was removed. */
async function removeExpiredTill(
  services: RemovalServices,
  { locationId, tillId, beforeDay, traceparent }: TillKey & { beforeDay: string; traceparent: string | undefined },
): Promise<boolean> {
  const { db } = services;
  return withUnpackedTills(services, locationId, () =>
    db.transaction(async (tx) => {
      // As for a revision that is stored: tills can contain the same orders and share day counts.
      await lockInTransaction(tx, db, `location ${locationId}`);
      const [till] = await tx<{ revision: number }[]>`
        select revision from tills where location_id = ${locationId} and till_id = ${tillId} for update`;
      if (!till) return false;
      const { report } = await findReportOfTill(tx, { locationId, tillId });
      if (report && report.day >= beforeDay) return false;
      await assertTillCanBeDeleted(tx, { locationId, tillId });
      await recordLocationWrite(tx, locationId);
      await deleteDocumentsOfTill(tx, { locationId, tillId }, { traceparent, isExpiry: true });
      await tx`delete from tills where location_id = ${locationId} and till_id = ${tillId}`;
      const data = { locationId, tillId, revision: till.revision, reportId: computeTillReportId(tillId) };
      await writeEventToOutbox(tx, "till.expired", { subject: tillId, data, traceparent });
      return true;
    }),
  );
}
