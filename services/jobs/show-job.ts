import { ApiError } from "@pragma/contracts/errors";
import { type JobStatus, jobStates } from "@pragma/contracts/job";
import { z } from "zod";
import { statusReply } from "./job-reply.ts";
import type { Jobs } from "./jobs.ts";
import { findJob, type JobRow } from "./queries/jobs.ts";

type Place = Pick<JobStatus, "state" | "progress">;

/**
 * A job and how far it is: what it came to from PostgreSQL, where it waits from its queue.
 *
 * @throws `ApiError` job_not_found, also for a job of another location.
 */
export async function showJob(
  { db, queues }: Pick<Jobs, "db" | "queues">,
  { locationId, id }: { locationId: string; id: string },
): Promise<JobStatus> {
  const job = await findJob(db.sql, { location_id: locationId, id });
  if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${id}.` });
  if (job.outcome) return statusReply(job, { state: job.outcome, progress: job.progress });
  if (job.options.repeat) return statusReply(job, { state: "repeating", progress: 0 });
  return statusReply(job, (await placeInQueue(queues, job)) ?? placeKnown(job));
}

const live = z.enum(jobStates).exclude(["completed", "failed", "repeating"]);

/** Undefined when its queue does not have it, or cannot be asked. */
async function placeInQueue(queues: Jobs["queues"], job: JobRow): Promise<Place | undefined> {
  try {
    // A queue that is opened while Redis is away would wait for it.
    if (queues.redis.status !== "ready") return undefined;
    const found = await queues.of(job.location_id).getJob(job.id);
    const state = live.safeParse(await found?.getState());
    if (!found || !state.success) return undefined;
    return { state: state.data, progress: typeof found.progress === "number" ? found.progress : 0 };
  } catch {
    return undefined;
  }
}

function placeKnown({ held_until, progress }: JobRow): Place {
  return { state: held_until && held_until > new Date() ? "active" : "waiting", progress };
}
