import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { recordParkedTillReport, recordTillReportResult } from "../queries/tills.ts";

/** Records that a till has its report, so that it is not requeued. */
export const markFinalizedSubscription = defineEventSubscription<TillIngestServiceContext, "report.finalized">(
  "report.finalized",
  async ({ data, once }) => {
    await once((tx) => recordTillReportResult(tx, data));
  },
);

/** Records that a till became a training till and its report was removed, so that it is not requeued. */
export const markRemovedSubscription = defineEventSubscription<TillIngestServiceContext, "report.removed">(
  "report.removed",
  async ({ data, once }) => {
    await once((tx) => recordTillReportResult(tx, { ...data, reportVersion: null }));
  },
);

/**
 * Records that the report of a till cannot be computed, which the till's response states until there is a result. The
 * sequence of these events does not matter, because a result of the same revision takes precedence.
 */
export const markParkedSubscription = defineEventSubscription<TillIngestServiceContext, "report.parked">(
  "report.parked",
  async ({ data, once }) => {
    await once((tx) => recordParkedTillReport(tx, data));
  },
);
