import type { Job, JobStatus } from "@pragma/contracts/job";
import type { JobRow } from "./queries/jobs.ts";
import { jobName } from "./queue.ts";

/** What clients know as their location's queue. */
export const queueNameOf = (locationId: string) => `jobs-${locationId}`;

export function jobReply({ id, location_id, message, duration, options, timestamp }: JobRow): Job {
  const payload = { message, duration };
  return { id, queueName: queueNameOf(location_id), jobName, jobOptions: options, payload, timestamp };
}

/** A job and how far it is. */
export function jobStatusReply(job: JobRow): JobStatus {
  return {
    ...jobReply(job),
    state: stateOf(job),
    progress: job.progress,
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
