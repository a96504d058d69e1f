import type { Job, JobStatus } from "@pragma/contracts/job";
import type { JobRow } from "./queries/jobs.ts";
import { jobName, queueNameOf } from "./queue.ts";

export function jobReply({ id, location_id, message, duration, options, timestamp }: JobRow): Job {
  return {
    id,
    queueName: queueNameOf(location_id),
    jobName,
    jobOptions: options,
    payload: { message, duration },
    timestamp,
  };
}

export function statusReply(job: JobRow, { state, progress }: Pick<JobStatus, "state" | "progress">): JobStatus {
  return {
    ...jobReply(job),
    state,
    progress,
    attemptsMade: job.attempts_made,
    runs: job.runs,
    result: job.result,
    failure: job.failure === null ? null : { message: job.failure },
    finishedAt: job.finished_at?.toISOString() ?? null,
  };
}
