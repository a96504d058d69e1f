import { randomUUID } from "node:crypto";
import { ApiError, type RequestIssue, type RequestIssueCode } from "@pragma/contracts/errors";
import type { CreateJobRequest, JobOptions } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuotaOrThrow } from "@pragma/runtime/admission/daily-quota";
import {
  type Database,
  lockInTransaction,
  runAfterCommit,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { JobsServiceConfig } from "./config.ts";
import type { JobQueue } from "./job-queue.ts";
import { insertJob, type JobRow, jobColumns, lockJobRow, updateUnfinishedJobRow } from "./queries/jobs.ts";
import { insertNextJobRun } from "./repeat-job.ts";
import { maxJobDueTimeMs, validateJobRepeatOptions } from "./repeat-schedule.ts";

/** The resources that the routes and periodic tasks of the jobs service share. */
export interface JobsServiceContext {
  db: Database;
  config: JobsServiceConfig;
  jobQueue: JobQueue;
  locations: LocationLookupClient;
}

/** Returns the public name of a location's queue. Responses contain it, and clients can send it as `parent.queue`. */
export const getPublicJobQueueName = (locationId: string) => `jobs-${locationId}`;

interface CreateJobOptions {
  locationId: string;
  principal: Principal;
  job: CreateJobRequest;
  context: ObservabilityContext;
}

/**
 * Inserts a job. After the commit, the queue searches for due jobs. If the location already has a job with the same
 * jobId, or with the same active deduplication id, returns the existing job and inserts nothing.
 *
 * @throws `ApiError` invalid_request for unsupported options, too_many_jobs, limit_reached, quota_exceeded.
 */
export async function findOrCreateJob(
  { db, config, jobQueue }: Pick<JobsServiceContext, "db" | "config" | "jobQueue">,
  { locationId, principal, job, context }: CreateJobOptions,
): Promise<{ job: JobRow; isNew: boolean }> {
  throwIfInvalid(validateJob(job, config, Date.now()));
  const { message, duration, jobOptions: options } = job;
  const { jobId = null, deduplication, timestamp = Date.now(), delay = 0 } = options;
  const deduplicationId = deduplication?.id ?? null;
  const { keyId, consumer } = principal;
  return db.transaction(async (tx) => {
    // So that concurrent requests cannot exceed the limits.
    for (const name of [`jobs of ${locationId}`, `jobs by ${keyId}`]) await lockInTransaction(tx, db, name);
    const [existing] = await tx<JobRow[]>`
      select ${jobColumns(tx)} from location_jobs
      where location_id = ${locationId} and (id = ${jobId} or deduplication_id = ${deduplicationId}
        and case when deduplicated_until is null then finished_at is null else deduplicated_until > clock_timestamp() end)
      order by coalesce(id = ${jobId}, false) desc, created_at desc limit 1`;
    if (existing) return { job: existing, isNew: false };
    if (options.parent) await addChildToParent(tx, locationId, options.parent, config.JOBS_MAX_CHILDREN_PER_PARENT);
    await checkJobLimits(tx, { locationId, principal, job }, config);
    const owner = { locationId, keyId, consumer, traceparent: context.traceparent };
    const newJob = { ...owner, id: jobId ?? randomUUID(), message, duration, options, timestamp };
    const dueMs = Math.min(maxJobDueTimeMs, timestamp + delay);
    const dueAt = delay > 0 && dueMs > Date.now() ? new Date(dueMs) : undefined;
    const row = await insertJob(tx, newJob, dueAt);
    await insertNextJobRun(tx, row);
    runAfterCommit(tx, jobQueue.wake);
    return { job: row, isNew: true };
  });
}

/** Makes the parent of a new job wait for the new job. @throws `ApiError` invalid_request, limit_reached. */
async function addChildToParent(
  tx: SqlTransaction,
  locationId: string,
  parent: NonNullable<JobOptions["parent"]>,
  maxChildren: number,
): Promise<void> {
  const throwParentIssue = (field: string, message: string) =>
    throwIfInvalid([{ in: "body", path: `jobOptions.parent.${field}`, code: "not_found", message }]);
  const queueName = getPublicJobQueueName(locationId);
  if (parent.queue !== undefined && parent.queue !== queueName)
    throwParentIssue("queue", `Must be omitted or ${queueName}, the queue of this location`);
  const parentJob = await lockJobRow(tx, { locationId, id: parent.id });
  if (!parentJob) return throwParentIssue("id", "Must be the ID of a job of this location");
  if (parentJob.finishedAt) throwParentIssue("id", "Must be the ID of a job that has not finished");
  if (parentJob.options.repeat) throwParentIssue("id", "Must be the ID of a job that does not repeat");
  const { totalChildren, pendingChildren } = parentJob;
  if (totalChildren >= maxChildren) throw createJobLimitError("children", maxChildren, "children per job");
  const counts = { totalChildren: totalChildren + 1, pendingChildren: pendingChildren + 1 };
  await updateUnfinishedJobRow(tx, parentJob, counts);
}

/** Also counts the job towards the daily quotas. @throws `ApiError` too_many_jobs, limit_reached, quota_exceeded. */
async function checkJobLimits(
  tx: SqlTransaction,
  { locationId, principal, job }: Omit<CreateJobOptions, "context">,
  config: JobsServiceConfig,
): Promise<void> {
  const { keyId } = principal;
  // Without the runs of repeating jobs.
  const [{ ofKey, ofLocation, repeating }] = await tx<[{ ofKey: number; ofLocation: number; repeating: number }]>`
    select count(*) filter (where key_id = ${keyId}) as of_key,
      count(*) filter (where location_id = ${locationId}) as of_location,
      count(*) filter (where location_id = ${locationId} and options ? 'repeat') as repeating
    from location_jobs
    where (key_id = ${keyId} or location_id = ${locationId}) and finished_at is null and repeating_job_id is null`;
  throwIfTooManyJobs("API key", ofKey, config.JOBS_MAX_UNFINISHED_PER_KEY);
  throwIfTooManyJobs("location", ofLocation, config.JOBS_MAX_UNFINISHED_PER_LOCATION);
  const maxRepeating = config.JOBS_MAX_REPEATING_PER_LOCATION;
  if (job.jobOptions.repeat && repeating >= maxRepeating)
    throw createJobLimitError("repeating_jobs", maxRepeating, "repeating jobs per location");
  const jobsPerDay = { name: "jobs", maximum: config.JOBS_MAX_PER_DAY, unit: "jobs" };
  await consumeDailyQuotaOrThrow(tx, { locationId, quota: jobsPerDay, amount: 1 });
  const bytesPerDay = { name: "job_bytes", maximum: config.JOBS_MAX_BYTES_PER_DAY, unit: "bytes" };
  await consumeDailyQuotaOrThrow(tx, { locationId, quota: bytesPerDay, amount: Buffer.byteLength(job.message) });
}

function throwIfTooManyJobs(owner: "API key" | "location", unfinished: number, maximum: number): void {
  if (unfinished < maximum) return;
  throw new ApiError("too_many_jobs", {
    detail: `This ${owner} has ${maximum} unfinished jobs, which is the limit. Wait until some of these jobs have finished.`,
    limit: { name: "unfinished_jobs", maximum, unit: `jobs per ${owner}` },
    headers: { "retry-after": "60" },
  });
}

function createJobLimitError(name: string, maximum: number, unit: string): ApiError {
  return new ApiError("limit_reached", {
    detail: `The limit is ${maximum} ${unit}.`,
    limit: { name, maximum, unit },
  });
}

/** The options of a child that decide what happens to its parent if the child fails. */
const parentFailureOptions = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** Returns the validation issues in a new job: conflicting options, and values beyond the configured limits. */
function validateJob(
  { message, duration, jobOptions }: CreateJobRequest,
  config: JobsServiceConfig,
  now: number,
): RequestIssue[] {
  const { JOBS_MAX_DURATION_MS: maxDurationMs, JOBS_MAX_ATTEMPTS: maxAttempts } = config;
  const { attempts = 1, sizeLimit = 0, repeat, deduplication, parent } = jobOptions;
  const issues: RequestIssue[] = [];
  const addIssue = (path: string, code: RequestIssueCode, text: string) =>
    issues.push({ in: "body", path, code, message: text });

  if (duration > maxDurationMs) addIssue("duration", "too_big", `Must be at most ${maxDurationMs} milliseconds`);
  if (attempts > maxAttempts) addIssue("jobOptions.attempts", "too_big", `Must be at most ${maxAttempts}`);
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  if (sizeLimit > 0 && size > sizeLimit)
    addIssue("jobOptions.sizeLimit", "too_big", `The payload has ${size} bytes as JSON, which exceeds this limit`);
  const chosen = parentFailureOptions.filter((option) => jobOptions[option]);
  for (const option of chosen.length > 1 ? chosen : [])
    addIssue(`jobOptions.${option}`, "conflict", `At most one of ${chosen.join(", ")} can be set`);
  if (deduplication && parent) addIssue("jobOptions.deduplication", "conflict", "Cannot be combined with parent");
  if (repeat) issues.push(...validateJobRepeatOptions(jobOptions, config.JOBS_MIN_REPEAT_INTERVAL_MS, now));
  return issues;
}
