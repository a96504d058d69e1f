import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import type { NewJob } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import { refuseFaults } from "@pragma/runtime/faults";
import { afterCommit, type Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { bodyFault } from "./body-fault.ts";
import { checkJob, type JobLimits } from "./check-job.ts";
import type { Jobs } from "./jobs.ts";
import {
  countChild,
  countUnfinished,
  findJob,
  findOriginal,
  insertJob,
  type JobRow,
  lockCreation,
  lockJob,
} from "./queries/jobs.ts";
import { scheduleRun } from "./repeat-job.ts";
import { queueNameOf } from "./show-job.ts";

interface CreateJob {
  locationId: string;
  principal: Principal;
  job: NewJob;
  context: RequestContext;
}

/**
 * Inserts a job, and has it given to the queue once that has committed. When there is a job of the same jobId, or of
 * which this one is a duplicate, that one is returned and nothing happens.
 *
 * @throws `ApiError` invalid_request for what the queue cannot do, too_many_jobs, limit_reached, quota_exceeded.
 */
export async function createJob(
  { db, limits, dispatcher }: Pick<Jobs, "db" | "limits" | "dispatcher">,
  { locationId, principal, job, context }: CreateJob,
): Promise<{ job: JobRow; isNew: boolean }> {
  refuseFaults(checkJob(job, limits, Date.now()));
  const { message, duration, jobOptions } = job;
  return db.transaction(async (tx) => {
    await lockCreation(tx, locationId, principal.keyId);
    const known = await findSame(tx, locationId, job);
    if (known) return { job: known, isNew: false };
    await refuseOrphan(tx, locationId, job);
    await checkLimits(tx, { locationId, principal, job }, limits);
    const given = {
      location_id: locationId,
      id: jobOptions.jobId ?? randomUUID(),
      key_id: principal.keyId,
      consumer: principal.consumer,
      message,
      duration,
      options: jobOptions,
      timestamp: jobOptions.timestamp ?? Date.now(),
      traceparent: context.traceparent,
    };
    const { delay = 0 } = jobOptions;
    const begin = given.timestamp + delay;
    const row = await insertJob(tx, given, delay > 0 && begin > Date.now() ? new Date(begin) : undefined);
    if (!row) throw new Error("A job was inserted and is not there.");
    await scheduleRun(tx, row);
    afterCommit(tx, () => dispatcher.wake(locationId));
    return { job: row, isNew: true };
  });
}

async function findSame(tx: Transaction, locationId: string, { jobOptions }: NewJob): Promise<JobRow | undefined> {
  const { jobId, deduplication } = jobOptions;
  const same = jobId === undefined ? undefined : await findJob(tx, { location_id: locationId, id: jobId });
  if (same || !deduplication) return same;
  return findOriginal(tx, { locationId, deduplicationId: deduplication.id });
}

async function refuseOrphan(tx: Transaction, locationId: string, { jobOptions }: NewJob): Promise<void> {
  const { parent, jobId } = jobOptions;
  if (!parent) return;
  const refuse = (path: string, message: string) =>
    refuseFaults([bodyFault(`jobOptions.parent.${path}`, "not_found", message)]);
  if (parent.queue !== undefined && parent.queue !== queueNameOf(locationId)) {
    refuse("queue", `Has to be ${queueNameOf(locationId)}, the queue of this location, or be left out`);
  }
  const found = parent.id === jobId ? undefined : await lockJob(tx, { location_id: locationId, id: parent.id });
  if (!found) refuse("id", "There is no such job in this location");
  else if (found.finished_at) refuse("id", "The parent has finished: it cannot wait for another child");
  else if (found.options.repeat)
    refuse("id", "The parent repeats: it has many runs, and none of them waits for a child");
}

async function checkLimits(
  tx: Transaction,
  { locationId, principal, job }: Omit<CreateJob, "context">,
  limits: JobLimits,
): Promise<void> {
  const { repeat, parent } = job.jobOptions;
  const { ofKey, ofLocation, repeating } = await countUnfinished(tx, locationId, principal.keyId);
  if (ofKey >= limits.unfinishedPerKey) throw tooMany("API key", limits.unfinishedPerKey);
  if (ofLocation >= limits.unfinishedPerLocation) throw tooMany("location", limits.unfinishedPerLocation);
  if (repeat && repeating >= limits.repeatingPerLocation) {
    throw reached("repeating_jobs", limits.repeatingPerLocation, "repeating jobs per location");
  }
  if (parent && !(await countChild(tx, { location_id: locationId, id: parent.id }, limits.childrenPerParent))) {
    throw reached("children", limits.childrenPerParent, "children per job");
  }
  await consumeDailyQuota(tx, { locationId, quota: limits.jobsPerDay, amount: 1 });
  await consumeDailyQuota(tx, { locationId, quota: limits.bytesPerDay, amount: Buffer.byteLength(job.message) });
}

function tooMany(owner: "API key" | "location", maximum: number): ApiError {
  return new ApiError("too_many_jobs", {
    detail: `This ${owner} has ${maximum} jobs that have not finished, as many as it may have. Wait until some have.`,
    limit: { name: "unfinished_jobs", maximum, unit: `jobs per ${owner}` },
    headers: { "retry-after": "60" },
  });
}

function reached(name: string, maximum: number, unit: string): ApiError {
  const detail = `There may be ${maximum} ${unit}. Another is possible when some have come to their end.`;
  return new ApiError("limit_reached", { detail, limit: { name, maximum, unit } });
}
