import type { Repeat } from "@pragma/contracts/job-repeat";
import type { Transaction } from "@pragma/runtime/postgres";
import { CronExpressionParser } from "cron-parser";
import { instantOf, latestDate } from "./check-repeat.ts";
import { countRuns, insertJob, type JobRow, lockJob, updateJob } from "./queries/jobs.ts";

/**
 * Inserts the next run of a repeating job as a job of its own: the first when the job is created, every other when the
 * one before it begins. Nothing when its limit or end is reached.
 */
export async function scheduleRun(tx: Transaction, job: JobRow): Promise<void> {
  const { repeat, attempts, backoff, priority, keepLogs, stackTraceLimit } = job.options;
  if (!repeat || (repeat.limit !== undefined && job.runs + (await countRuns(tx, job)) >= repeat.limit)) return;
  const due = nextDue(repeat, job.last_due, Date.now());
  if (due === undefined) return;
  const { location_id, key_id, consumer, duration } = job;
  const options = { attempts, backoff, priority, keepLogs, stackTraceLimit };
  // The message stays with the repeating job.
  const run = { location_id, key_id, consumer, duration, message: "", traceparent: null, timestamp: due };
  await insertJob(tx, { ...run, id: `${job.id}:${due}`, run_of: job.id, options }, new Date(due));
  await updateJob(tx, job, { last_due: due });
}

/** A job that begins, as it is. A run has the message of its repeating job, whose next run is inserted. */
export async function beginRun(tx: Transaction, job: JobRow | undefined): Promise<JobRow | undefined> {
  if (!job || job.run_of === null) return job;
  const repeating = await lockJob(tx, { location_id: job.location_id, id: job.run_of });
  if (repeating?.last_due === job.timestamp) await scheduleRun(tx, repeating);
  return repeating && { ...job, message: repeating.message };
}

/**
 * When a repeating job is due after it was due at `lastDue`, in milliseconds since 1970. Times that were missed are left
 * out. Undefined when it is not due any more.
 */
function nextDue(repeat: Repeat, lastDue: number | null, now: number): number | undefined {
  const { every, pattern = "", tz = "UTC", startDate, endDate, immediately } = repeat;
  const begin = Math.max(now, startDate === undefined ? now : instantOf(startDate), lastDue ?? now);
  let due = begin;
  if (every !== undefined && lastDue !== null) due = lastDue + Math.max(1, Math.ceil((now - lastDue) / every)) * every;
  if (every === undefined && (lastDue !== null || !immediately)) {
    due = CronExpressionParser.parse(pattern, { tz, currentDate: new Date(begin) })
      .next()
      .getTime();
  }
  due = Math.min(due, latestDate);
  return endDate !== undefined && due > instantOf(endDate) ? undefined : due;
}
