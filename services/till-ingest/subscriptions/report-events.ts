import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { recordTillReportResult } from "../queries/tills.ts";

/** Records that a till has its report, so that it is not requeued. */
export const markTillReportFinalizedSubscription = defineEventSubscription<
  TillIngestServiceContext,
  "report.finalized"
>("report.finalized", async ({ data, once }) => {
  await once((tx) => recordTillReportResult(tx, data));
});

/** Records that a till became a training till and its report was removed, so that it is not requeued. */
export const markTillReportRemovedSubscription = defineEventSubscription<TillIngestServiceContext, "report.removed">(
  "report.removed",
  async ({ data, once }) => {
    await once((tx) => recordTillReportResult(tx, { ...data, reportVersion: null }));
  },
);
