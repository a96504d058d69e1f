import { ApiError } from "@pragma/contracts/errors";
import type { JobStatus } from "@pragma/contracts/job";
import { statusReply } from "./job-reply.ts";
import type { Jobs } from "./jobs.ts";
import { findJob, type JobRow } from "./queries/jobs.ts";
import { type JobQueue, queuedId } from "./queue.ts";

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
  if (job.outcome) return statusReply(job, { state: job.outcome, progress: job.progress });
  return statusReply(job, await whereabouts(queue, job));
}

/** An unfinished job's state, and how far it is. */
async function whereabouts(queue: JobQueue, job: JobRow): Promise<Pick<JobStatus, "state" | "progress">> {
  if (job.options.repeat) return { state: "repeating", progress: 0 };
  const now = new Date();
  if (job.held_until && job.held_until > now) {
    return { state: "active", progress: Math.max(job.progress, await progressOf(queue, job)) };
  }
  if (job.due_at && job.due_at > now) return { state: "delayed", progress: 0 };
  if (job.pending_children > 0) return { state: "waiting-children", progress: 0 };
  return { state: job.priority > 0 ? "prioritized" : "waiting", progress: 0 };
}

/** In percent, as the process reports it that does the job; 0 when the queue cannot be asked. */
async function progressOf({ isReady, queue }: JobQueue, job: JobRow): Promise<number> {
  if (!isReady()) return 0;
  const queued = await queue.getJob(queuedId(job)).catch(() => undefined);
  return typeof queued?.progress === "number" ? queued.progress : 0;
}
