import { type JobsOptions, PRIORITY_LIMIT, type RepeatOptions } from "bullmq";
import { instantOf } from "../check-repeat.ts";
import type { JobRow } from "../queries/jobs.ts";

/** The name of every job in its queue. */
export const jobName = "message";

/** What a queue keeps of finished jobs, whatever they ask for: what they came to, and for how long, is in PostgreSQL. */
const keptInQueue = {
  removeOnComplete: { age: 60 * 60, count: 100 },
  removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
};
/** Lines of a job's log, and traces of its failures, that a queue keeps at most. */
const maxLogs = 100;
const maxTraces = 10;

/** What a queue is told of a job: what was asked for, less what has been done of it and what PostgreSQL sees to. */
export function optionsInQueue(job: JobRow, qualifiedName: string): JobsOptions {
  const { lifo, delay, parent, attempts = 1 } = job.options;
  return {
    ...optionsOfRuns(job),
    jobId: job.id,
    timestamp: job.timestamp,
    attempts: Math.max(1, attempts - job.attempts_made),
    ...(lifo && { lifo }),
    ...(delay && { delay }),
    ...(parent && { parent: { id: parent.id, queue: qualifiedName } }),
  };
}

/** What a queue is told of each run of a repeating job. */
export function optionsOfRuns({ options }: JobRow): JobsOptions {
  const { failParentOnFailure, ignoreDependencyOnFailure, removeDependencyOnFailure, attempts, backoff } = options;
  const { priority = 0, keepLogs = maxLogs, stackTraceLimit = maxTraces } = options;
  return {
    ...(failParentOnFailure && { failParentOnFailure }),
    ...(ignoreDependencyOnFailure && { ignoreDependencyOnFailure }),
    ...(removeDependencyOnFailure && { removeDependencyOnFailure }),
    ...keptInQueue,
    // The queue knows one less than the API: the last two are one.
    priority: Math.min(priority, PRIORITY_LIMIT),
    ...(attempts !== undefined && { attempts }),
    ...(backoff !== undefined && { backoff }),
    keepLogs: Math.min(keepLogs, maxLogs),
    stackTraceLimit: Math.min(stackTraceLimit, maxTraces),
  } as JobsOptions;
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
