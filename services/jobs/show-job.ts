import { ApiError } from "@pragma/contracts/errors";
import type { Job, JobStatus } from "@pragma/contracts/job";
import type { Jobs } from "./jobs.ts";
import { findJob, type JobRow } from "./queries/jobs.ts";
import { type JobQueue, jobName, queuedId } from "./queue.ts";

/** What clients know as their location's queue. */
export const queueNameOf = (locationId: string) => `jobs-${locationId}`;

export function jobReply({ id, location_id, message, duration, options, timestamp }: JobRow): Job {
  const payload = { message, duration };
  return { id, queueName: queueNameOf(location_id), jobName, jobOptions: options, payload, timestamp };
}

/**
 * A job and how far it is: all from PostgreSQL but the progress of one that is being done, which the queue has.
 *
 * @throws `ApiError` job_not_found, also for a job of another location.
 */
export async function showJob(
  { db, queue }: Pick<Jobs, "db" | "queue">,
  { locationId, id }: { locationId: string; id: string },
): Promise<JobStatus> {
  const job = await findJob(db.sql, { location_id: locationId, id });
  if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${id}.` });
  const state = stateOf(job);
  return {
    ...jobReply(job),
    state,
    progress: state === "active" ? Math.max(job.progress, await progressInQueue(queue, job)) : job.progress,
    attemptsMade: job.attempts_made,
    runs: job.runs,
    result: job.result,
    failure: job.failure === null ? null : { message: job.failure },
    finishedAt: job.finished_at?.toISOString() ?? null,
  };
}

function stateOf({ outcome, options, held_until, due_at, pending_children, priority }: JobRow): JobStatus["state"] {
  const now = new Date();
  if (outcome) return outcome;
  if (options.repeat) return "repeating";
  if (held_until && held_until > now) return "active";
  if (due_at && due_at > now) return "delayed";
  if (pending_children > 0) return "waiting-children";
  return priority > 0 ? "prioritized" : "waiting";
}

/** In percent, as the process reports it that does the job; 0 when the queue cannot be asked. */
async function progressInQueue({ isReady, queue }: JobQueue, job: JobRow): Promise<number> {
  if (!isReady()) return 0;
  const queued = await queue.getJob(queuedId(job)).catch(() => undefined);
  return typeof queued?.progress === "number" ? queued.progress : 0;
}
