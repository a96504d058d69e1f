import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { countUnfinishedRuns, insertJob, type JobRow, updateUnfinishedJobRow } from "./queries/jobs.ts";
import { computeNextJobRunMs } from "./repeat-schedule.ts";

/**
 * Inserts the next run of a repeating job as a separate job. The first run is inserted when the repeating job is
 * created, each later run when the previous run starts. Inserts nothing once the limit or end date is reached.
 */
export async function insertNextJobRun(tx: SqlTransaction, job: JobRow): Promise<void> {
  const { repeat, attempts, backoff, priority, lifo, keepLogs, stackTraceLimit } = job.options;
  if (!repeat || (repeat.limit !== undefined && job.runs + (await countUnfinishedRuns(tx, job)) >= repeat.limit))
    return;
  const dueMs = computeNextJobRunMs(repeat, job.lastDueMs, Date.now());
  if (dueMs === undefined) return;
  const { locationId, keyId, consumer, duration } = job;
  const options = { attempts, backoff, priority, lifo, keepLogs, stackTraceLimit };
  // The message of the run is empty, because the message is stored only once, with the repeating job.
  const run = { locationId, keyId, consumer, duration, message: "", traceparent: null, timestamp: dueMs };
  await insertJob(tx, { ...run, id: `${job.id}:${dueMs}`, repeatingJobId: job.id, options }, new Date(dueMs));
  await updateUnfinishedJobRow(tx, job, { lastDueMs: dueMs });
}
