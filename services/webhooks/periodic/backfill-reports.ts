import {
  type ReportListingRequest,
  reportListingReplySchema,
  reportListingTopic,
} from "@pragma/contracts/report-listing";
import { isRemovedLocationError } from "@pragma/runtime/retries/transient-error";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ChangeFeedNotifier } from "../changes/change-waiters.ts";
import { recordReportChange } from "../changes/record-change.ts";
import type { WebhooksServiceContext } from "../context.ts";
import { findDueReportBackfill, updateReportBackfill } from "../queries/report-backfill.ts";

/** A few seconds of work. The next run continues. */
const maxBatchesPerRun = 10;
/** An upgrade replaces all instances of the earlier version within this time. */
const secondPassAfterSeconds = 24 * 3_600;
const requestTimeoutMs = 20_000;

/**
 * Adds the reports from before the change feed to the feed, which it requests from reporting in batches. Progress is
 * stored with each batch, so that any instance continues where the last one stopped.
 */
export const backfillReportsTask: PeriodicTask<
  Pick<WebhooksServiceContext, "db" | "log" | "sendBusRequest"> & { changeWaiters: ChangeFeedNotifier }
> = {
  name: "backfill reports",
  intervalSeconds: 10,
  async run(services) {
    const { db, log, sendBusRequest } = services;
    let total = 0;
    for (let batch = 0; batch < maxBatchesPerRun; batch += 1) {
      const progress = await findDueReportBackfill(db.sql, { secondPassAfterSeconds });
      if (!progress) break;
      const { pass, startedAt, locationId, reportId } = progress;
      const request: ReportListingRequest = {
        after: locationId !== null && reportId !== null ? { locationId, reportId } : null,
        storedSince: pass === 1 ? null : startedAt.toISOString(),
      };
      const reply = await sendBusRequest(reportListingTopic, JSON.stringify(request), { timeoutMs: requestTimeoutMs });
      const { reports, next } = reportListingReplySchema.parse(JSON.parse(reply));
      let added = 0;
      for (const { finalizedAt: changedAt, ...report } of reports) {
        try {
          if (await recordReportChange(services, { ...report, changedAt, kind: "stored" })) added += 1;
        } catch (error) {
          if (!isRemovedLocationError(error)) throw error;
        }
      }
      await updateReportBackfill(db.sql, progress, { next, added });
      total += added;
    }
    if (total > 0) log.info({ reports: total }, "added earlier reports to the change feed");
  },
};
