import { type JobsOptions, PRIORITY_LIMIT, type RepeatOptions } from "bullmq";
import { instantOf } from "../check-repeat.ts";
import type { JobRow } from "../queries/jobs.ts";

/** The name of every job in its queue. */
export const jobName = "message";

/** What a queue is told of a job: what was asked for, less what has been done of it. `now` is in milliseconds. */
export function optionsInQueue(
  job: JobRow,
  { qualifiedName, now }: { qualifiedName: string; now: number },
): JobsOptions {
  const { repeat, deduplication, parent, priority = 0, attempts = 1, ...others } = job.options;
  const ttl = job.deduplicated_until ? job.deduplicated_until.getTime() - now : 0;
  const isDeduplicated = deduplication !== undefined && (ttl > 0 || job.deduplicated_until === null);
  return {
    ...others,
    jobId: job.id,
    timestamp: job.timestamp,
    // The queue knows one less than the API: the last two are one.
    priority: Math.min(priority, PRIORITY_LIMIT),
    attempts: Math.max(1, attempts - job.attempts_made),
    ...(isDeduplicated && { deduplication: { id: deduplication.id, ...(ttl > 0 && { ttl }) } }),
    ...(parent && { parent: { id: parent.id, queue: qualifiedName } }),
  } as JobsOptions;
}

/** What a queue is told of each run of a repeating job. */
export function optionsOfRuns({ options }: JobRow): JobsOptions {
  const { repeat, priority = 0, jobId, delay, timestamp, deduplication, parent, lifo, ...others } = options;
  return { ...others, priority: Math.min(priority, PRIORITY_LIMIT) } as JobsOptions;
}

/**
 * When a queue has to do a repeating job: what was asked for, less the runs that are done. Undefined when there is no
 * run left. `now` is in milliseconds.
 */
export function repetitionInQueue(job: JobRow, now: number): Omit<RepeatOptions, "key"> | undefined {
  const { every, pattern, tz = "UTC", limit, startDate, endDate, immediately } = job.options.repeat ?? {};
  if (limit !== undefined && job.runs >= limit) return undefined;
  if (endDate !== undefined && instantOf(endDate) <= now) return undefined;
  const hasBegun = job.last_due !== null;
  const start = hasBegun && every !== undefined ? (job.last_due ?? 0) + every : startDate && instantOf(startDate);
  return {
    ...(every === undefined ? { pattern: pattern ?? "", tz } : { every }),
    ...(limit !== undefined && { limit: limit - job.runs }),
    ...(start && { startDate: start }),
    ...(endDate !== undefined && { endDate: instantOf(endDate) }),
    ...(immediately && pattern !== undefined && !hasBegun && { immediately }),
  };
}
