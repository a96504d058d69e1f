import type { JobQueue } from "@pragma/runtime/job-queue";
import type { Logger } from "@pragma/runtime/logger";
import type { Claim } from "../queries/accounting-exports.ts";

/** What is told through the queue. The export is in PostgreSQL: a job that is lost is announced again. */
export interface ExportJob {
  exportId: string;
}

/** Has exports made by any instance. Never rejects: what the queue does not take is announced again later. */
export type AnnounceExports = (exports: readonly Claim[], traceparent: string | undefined) => Promise<void>;

/** A job is named by the attempt that would come to be, so that the same is not queued twice, and the next can be. */
export function exportAnnouncer({ queue, log }: { queue: JobQueue<ExportJob>; log: Logger }): AnnounceExports {
  return async (exports, traceparent) => {
    if (exports.length === 0) return;
    try {
      await queue.addAll(
        exports.map(({ id, attempt }) => ({
          payload: { exportId: id },
          options: { jobId: `${id}-${attempt + 1}`, traceparent },
        })),
      );
    } catch (error) {
      log.debug({ err: error, exports: exports.length }, "exports could not be queued");
    }
  };
}
