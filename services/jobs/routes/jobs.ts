import { randomUUID } from "node:crypto";
import { ApiError, type RequestIssue } from "@pragma/contracts/errors";
import { Job, JobId, type JobOptions, JobStatus, NewJob } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { conditionalJsonResponseByContent, jsonResponse } from "@pragma/runtime/http/route-response";
import { consumeDailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { RequestContext } from "@pragma/runtime/observability/request-context";
import {
  locationIdQueryParam,
  resolveLocationId,
  resolveLocationRef,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineJobsRoute, type JobsConfig, type JobsContext } from "../context.ts";
import { bullJobName } from "../job-queue.ts";
import {
  countUnfinishedJobs,
  findExistingJob,
  findJob,
  insertJob,
  type JobRow,
  lockJob,
  lockJobCreation,
  updateJob,
} from "../queries/jobs.ts";
import { latestDueMs, validateRepeat } from "../repeat-schedule.ts";
import { insertNextRun } from "../run-job.ts";

const locationIdQuery = z.object({
  locationId: locationIdQueryParam("For keys that may act for any location"),
});

const jobRoute = { tag: "Jobs", audience: "public", scope: "jobs:write" } as const;

export const getJobRoute = defineJobsRoute({
  method: "get",
  path: "/v1/jobs/{id}/",
  operationId: "getJob",
  ...jobRoute,
  summary: "Get a job",
  description: "A job, where it is, how far it is, and what it came to. Jobs that were forgotten are not there.",
  request: { params: z.object({ id: JobId }), query: locationIdQuery },
  responses: {
    200: { description: "The job", schema: JobStatus },
    304: { description: "The client has it already" },
  },
  errors: ["location_forbidden", "job_not_found"],
  async handle({ params, query, principal, services, header }) {
    const locationId = resolveLocationId(principal, query.locationId);
    const job = await findJob(services.db.sql, { locationId, id: params.id });
    if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${params.id}.` });
    return conditionalJsonResponseByContent(JSON.stringify(toJobStatusResponse(job)), {
      ifNoneMatch: header("if-none-match"),
    });
  },
});

/** What clients know as their location's queue. */
const locationQueueName = (locationId: string) => `jobs-${locationId}`;

function toJobResponse({ id, locationId, message, duration, options, timestamp }: JobRow): Job {
  const payload = { message, duration };
  return {
    id,
    queueName: locationQueueName(locationId),
    jobName: bullJobName,
    jobOptions: options,
    payload,
    timestamp,
  };
}

/** A job and how far it is. */
function toJobStatusResponse(job: JobRow): JobStatus {
  return {
    ...toJobResponse(job),
    state: toJobState(job),
    progress: job.progress,
    attemptsMade: job.attemptsMade,
    runs: job.runs,
    result: job.result,
    failure: job.failure === null ? null : { message: job.failure },
    finishedAt: job.finishedAt?.toISOString() ?? null,
  };
}

function toJobState({ outcome, options, heldUntil, dueAt, pendingChildren, priority }: JobRow): JobStatus["state"] {
  const now = new Date();
  if (outcome) return outcome;
  if (options.repeat) return "repeating";
  if (heldUntil && heldUntil > now) return "active";
  if (dueAt && dueAt > now) return "delayed";
  if (pendingChildren > 0) return "waiting-children";
  return priority > 0 ? "prioritized" : "waiting";
}

export const createJobRoute = defineJobsRoute({
  method: "post",
  path: "/v1/jobs/",
  operationId: "createJob",
  ...jobRoute,
  summary: "Create a job",
  description:
    "Puts a job in the queue of a location. It takes as long as its duration says, reports how far it is, and comes back with its message. " +
    "jobOptions are those of a queue's job; a combination that a queue cannot do is refused with the reason. " +
    "A job is done once, also when a queue has to be filled again. " +
    "A key and a location may have a number of jobs that have not finished; the jobs of a day, repeating jobs, attempts, duration and the time between the runs of a repeating job are limited too.",
  request: { query: locationIdQuery, body: jsonBodyParser(NewJob) },
  responses: {
    201: { description: "The job is in its queue, or soon will be", schema: Job },
    200: { description: "There is such a job: of the same jobId, or of which this is a duplicate", schema: Job },
    204: { description: "The request was repeated under its Idempotency-Key, and its reply was not kept" },
  },
  errors: ["location_forbidden", "location_not_found", "too_many_jobs", "limit_reached", "quota_exceeded"],
  async handle({ body, query, principal, services, context }) {
    const { id: locationId } = await resolveLocationRef(principal, query.locationId, services.locations, context);
    const { job, isNew } = await createJob(services, { locationId, principal, job: body, context });
    context.addLogFields({ jobId: job.id, isNew });
    return jsonResponse(isNew ? 201 : 200, toJobResponse(job), { location: `/v1/jobs/${job.id}` });
  },
});

interface CreateJobOptions {
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
async function createJob(
  { db, config, jobQueue }: Pick<JobsContext, "db" | "config" | "jobQueue">,
  { locationId, principal, job, context }: CreateJobOptions,
): Promise<{ job: JobRow; isNew: boolean }> {
  throwIfInvalid(validateJob(job, config, Date.now()));
  const { message, duration, jobOptions: options } = job;
  const { jobId, deduplication, timestamp = Date.now(), delay = 0 } = options;
  const { keyId, consumer } = principal;
  return db.transaction(async (tx) => {
    await lockJobCreation(tx, db, locationId, keyId);
    const existing = await findExistingJob(tx, {
      locationId,
      jobId: jobId ?? null,
      duplicateOf: deduplication?.id ?? null,
    });
    if (existing) return { job: existing, isNew: false };
    if (options.parent)
      await addChildToParent(tx, { locationId, parent: options.parent }, config.JOBS_CHILDREN_PER_PARENT);
    await checkJobLimits(tx, { locationId, principal, job }, config);
    const owner = { locationId, keyId, consumer, traceparent: context.traceparent };
    const newJob = { ...owner, id: jobId ?? randomUUID(), message, duration, options, timestamp };
    const dueMs = Math.min(latestDueMs, timestamp + delay);
    const dueAt = delay > 0 && dueMs > Date.now() ? new Date(dueMs) : undefined;
    const row = await insertJob(tx, newJob, dueAt);
    await insertNextRun(tx, row);
    runAfterCommit(tx, jobQueue.wake);
    return { job: row, isNew: true };
  });
}

/** Has the parent of a new job wait for one child more. */
async function addChildToParent(
  tx: SqlTransaction,
  { locationId, parent }: { locationId: string; parent: NonNullable<JobOptions["parent"]> },
  maxChildren: number,
): Promise<void> {
  const throwParentIssue = (field: string, message: string) =>
    throwIfInvalid([{ in: "body", path: `jobOptions.parent.${field}`, code: "not_found", message }]);
  const queueName = locationQueueName(locationId);
  if (parent.queue !== undefined && parent.queue !== queueName) {
    throwParentIssue("queue", `Has to be ${queueName}, the queue of this location, or be left out`);
  }
  const found = await lockJob(tx, { locationId, id: parent.id });
  if (!found) return throwParentIssue("id", "There is no such job in this location");
  if (found.finishedAt) throwParentIssue("id", "The parent has finished: it cannot wait for another child");
  if (found.options.repeat)
    throwParentIssue("id", "The parent repeats: it has many runs, and none of them waits for a child");
  if (found.children >= maxChildren) throw createJobLimitError("children", maxChildren, "children per job");
  await updateJob(tx, found, { children: found.children + 1, pendingChildren: found.pendingChildren + 1 });
}

async function checkJobLimits(
  tx: SqlTransaction,
  { locationId, principal, job }: Omit<CreateJobOptions, "context">,
  config: JobsConfig,
): Promise<void> {
  const { ofKey, ofLocation, repeating } = await countUnfinishedJobs(tx, locationId, principal.keyId);
  if (ofKey >= config.JOBS_UNFINISHED_PER_KEY) throw createTooManyJobsError("API key", config.JOBS_UNFINISHED_PER_KEY);
  if (ofLocation >= config.JOBS_UNFINISHED_PER_LOCATION)
    throw createTooManyJobsError("location", config.JOBS_UNFINISHED_PER_LOCATION);
  if (job.jobOptions.repeat && repeating >= config.JOBS_REPEATING_PER_LOCATION) {
    throw createJobLimitError("repeating_jobs", config.JOBS_REPEATING_PER_LOCATION, "repeating jobs per location");
  }
  const jobsPerDay = { name: "jobs", maximum: config.JOBS_PER_DAY, unit: "jobs" };
  await consumeDailyQuota(tx, { locationId, quota: jobsPerDay, amount: 1 });
  const bytesPerDay = { name: "job_bytes", maximum: config.JOBS_BYTES_PER_DAY, unit: "bytes" };
  await consumeDailyQuota(tx, { locationId, quota: bytesPerDay, amount: Buffer.byteLength(job.message) });
}

function createTooManyJobsError(owner: "API key" | "location", maximum: number): ApiError {
  return new ApiError("too_many_jobs", {
    detail: `This ${owner} has ${maximum} jobs that have not finished, as many as it may have. Wait until some have.`,
    limit: { name: "unfinished_jobs", maximum, unit: `jobs per ${owner}` },
    headers: { "retry-after": "60" },
  });
}

function createJobLimitError(name: string, maximum: number, unit: string): ApiError {
  const detail = `There may be ${maximum} ${unit}. Another is possible when some have come to their end.`;
  return new ApiError("limit_reached", { detail, limit: { name, maximum, unit } });
}

/** The fates of a parent that a child's failure can bring about: one at most. */
const parentFailureOptions = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** What an installation does not allow of a job, and what contradicts itself, each with the reason. */
function validateJob({ message, duration, jobOptions }: NewJob, config: JobsConfig, now: number): RequestIssue[] {
  const { JOBS_LONGEST_DURATION: longest, JOBS_MOST_ATTEMPTS: maxAttempts, JOBS_SHORTEST_REPEAT: shortest } = config;
  const { attempts = 1, sizeLimit = 0, repeat } = jobOptions;
  const issues: RequestIssue[] = [];
  const addIssueIf = (isFault: unknown, path: string, code: string, text: string) => {
    if (isFault) issues.push({ in: "body", path, code, message: text });
  };
  const addConflictIf = (isFault: unknown, option: string, text: string) =>
    addIssueIf(isFault, `jobOptions.${option}`, "conflict", text);
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  const sizeText = `The payload has ${size} bytes as JSON, more than this limit`;

  addIssueIf(duration > longest, "duration", "too_big", `A job may take ${longest} milliseconds at most`);
  addIssueIf(
    attempts > maxAttempts,
    "jobOptions.attempts",
    "too_big",
    `A job may be tried ${maxAttempts} times at most`,
  );
  addIssueIf(sizeLimit > 0 && size > sizeLimit, "jobOptions.sizeLimit", "too_big", sizeText);

  const asked = parentFailureOptions.filter((fate) => jobOptions[fate]);
  for (const fate of asked) {
    addConflictIf(asked.length > 1, fate, `Of ${asked.join(", ")} one at most: a parent has one fate`);
  }
  const isDuplicable = jobOptions.deduplication && jobOptions.parent;
  addConflictIf(isDuplicable, "deduplication", "A job that has a parent cannot be deduplicated");
  return repeat ? [...issues, ...validateRepeat(jobOptions, shortest, now)] : issues;
}
