import { randomUUID } from "node:crypto";
import { ApiError, type Fault } from "@pragma/contracts/errors";
import { Job, JobId, type JobOptions, JobStatus, NewJob } from "@pragma/contracts/job";
import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import { jsonBody } from "@pragma/runtime/define-route";
import { refuseFaults } from "@pragma/runtime/faults";
import { locationInQuery, namedLocation, ownLocation } from "@pragma/runtime/locations";
import { afterCommit, type Transaction } from "@pragma/runtime/postgres";
import { json, taggedByContent } from "@pragma/runtime/reply";
import type { RequestContext } from "@pragma/runtime/request-context";
import { z } from "zod";
import { defineRoute, type Jobs, type JobsConfig } from "../jobs.ts";
import {
  countUnfinished,
  findJob,
  findSame,
  insertJob,
  type JobRow,
  lockCreation,
  lockJob,
  updateJob,
} from "../queries/jobs.ts";
import { jobName } from "../queue.ts";
import { checkRepeat, latestDate } from "../repeat.ts";
import { scheduleRun } from "../run-job.ts";

const locationQuery = z.object({
  locationId: locationInQuery("For keys that may act for any location"),
});

const jobRoute = { tag: "Jobs", audience: "public", scope: "jobs:write" } as const;

export const getJob = defineRoute({
  method: "get",
  path: "/v1/jobs/{id}/",
  operationId: "getJob",
  ...jobRoute,
  summary: "Get a job",
  description: "A job, where it is, how far it is, and what it came to. Jobs that were forgotten are not there.",
  request: { params: z.object({ id: JobId }), query: locationQuery },
  responses: {
    200: { description: "The job", schema: JobStatus },
    304: { description: "The client has it already" },
  },
  errors: ["location_forbidden", "job_not_found"],
  async handle({ params, query, principal, services, header }) {
    const locationId = ownLocation(principal, query.locationId);
    const job = await findJob(services.db.sql, { locationId, id: params.id });
    if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${params.id}.` });
    return taggedByContent(JSON.stringify(jobStatusReply(job)), { ifNoneMatch: header("if-none-match") });
  },
});

/** What clients know as their location's queue. */
const queueNameOf = (locationId: string) => `jobs-${locationId}`;

function jobReply({ id, locationId, message, duration, options, timestamp }: JobRow): Job {
  const payload = { message, duration };
  return { id, queueName: queueNameOf(locationId), jobName, jobOptions: options, payload, timestamp };
}

/** A job and how far it is. */
function jobStatusReply(job: JobRow): JobStatus {
  return {
    ...jobReply(job),
    state: stateOf(job),
    progress: job.progress,
    attemptsMade: job.attemptsMade,
    runs: job.runs,
    result: job.result,
    failure: job.failure === null ? null : { message: job.failure },
    finishedAt: job.finishedAt?.toISOString() ?? null,
  };
}

function stateOf({ outcome, options, heldUntil, dueAt, pendingChildren, priority }: JobRow): JobStatus["state"] {
  const now = new Date();
  if (outcome) return outcome;
  if (options.repeat) return "repeating";
  if (heldUntil && heldUntil > now) return "active";
  if (dueAt && dueAt > now) return "delayed";
  if (pendingChildren > 0) return "waiting-children";
  return priority > 0 ? "prioritized" : "waiting";
}

export const createJobRoute = defineRoute({
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
  request: { query: locationQuery, body: jsonBody(NewJob) },
  responses: {
    201: { description: "The job is in its queue, or soon will be", schema: Job },
    200: { description: "There is such a job: of the same jobId, or of which this is a duplicate", schema: Job },
    204: { description: "The request was repeated under its Idempotency-Key, and its reply was not kept" },
  },
  errors: ["location_forbidden", "location_not_found", "too_many_jobs", "limit_reached", "quota_exceeded"],
  async handle({ body, query, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, query.locationId, services.locations, context);
    const { job, isNew } = await createJob(services, { locationId, principal, job: body, context });
    context.addToLog({ jobId: job.id, isNew });
    return json(isNew ? 201 : 200, jobReply(job), { location: `/v1/jobs/${job.id}` });
  },
});

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
async function createJob(
  { db, config, queue }: Pick<Jobs, "db" | "config" | "queue">,
  { locationId, principal, job, context }: CreateJob,
): Promise<{ job: JobRow; isNew: boolean }> {
  refuseFaults(checkJob(job, config, Date.now()));
  const { message, duration, jobOptions: options } = job;
  const { jobId, deduplication, timestamp = Date.now(), delay = 0 } = options;
  const { keyId, consumer } = principal;
  return db.transaction(async (tx) => {
    await lockCreation(tx, db, locationId, keyId);
    const known = await findSame(tx, { locationId, jobId: jobId ?? null, duplicateOf: deduplication?.id ?? null });
    if (known) return { job: known, isNew: false };
    if (options.parent) await addChild(tx, { locationId, parent: options.parent }, config.JOBS_CHILDREN_PER_PARENT);
    await checkLimits(tx, { locationId, principal, job }, config);
    const owner = { locationId, keyId, consumer, traceparent: context.traceparent };
    const given = { ...owner, id: jobId ?? randomUUID(), message, duration, options, timestamp };
    const due = Math.min(latestDate, timestamp + delay);
    const dueAt = delay > 0 && due > Date.now() ? new Date(due) : undefined;
    const row = await insertJob(tx, given, dueAt);
    await scheduleRun(tx, row);
    afterCommit(tx, queue.wake);
    return { job: row, isNew: true };
  });
}

/** Has the parent of a new job wait for one child more. */
async function addChild(
  tx: Transaction,
  { locationId, parent }: { locationId: string; parent: NonNullable<JobOptions["parent"]> },
  maxChildren: number,
): Promise<void> {
  const refuse = (field: string, message: string) =>
    refuseFaults([{ in: "body", path: `jobOptions.parent.${field}`, code: "not_found", message }]);
  const queueName = queueNameOf(locationId);
  if (parent.queue !== undefined && parent.queue !== queueName) {
    refuse("queue", `Has to be ${queueName}, the queue of this location, or be left out`);
  }
  const found = await lockJob(tx, { locationId, id: parent.id });
  if (!found) return refuse("id", "There is no such job in this location");
  if (found.finishedAt) refuse("id", "The parent has finished: it cannot wait for another child");
  if (found.options.repeat) refuse("id", "The parent repeats: it has many runs, and none of them waits for a child");
  if (found.children >= maxChildren) throw reached("children", maxChildren, "children per job");
  await updateJob(tx, found, { children: found.children + 1, pendingChildren: found.pendingChildren + 1 });
}

async function checkLimits(
  tx: Transaction,
  { locationId, principal, job }: Omit<CreateJob, "context">,
  config: JobsConfig,
): Promise<void> {
  const { ofKey, ofLocation, repeating } = await countUnfinished(tx, locationId, principal.keyId);
  if (ofKey >= config.JOBS_UNFINISHED_PER_KEY) throw tooMany("API key", config.JOBS_UNFINISHED_PER_KEY);
  if (ofLocation >= config.JOBS_UNFINISHED_PER_LOCATION) throw tooMany("location", config.JOBS_UNFINISHED_PER_LOCATION);
  if (job.jobOptions.repeat && repeating >= config.JOBS_REPEATING_PER_LOCATION) {
    throw reached("repeating_jobs", config.JOBS_REPEATING_PER_LOCATION, "repeating jobs per location");
  }
  const jobsPerDay = { name: "jobs", maximum: config.JOBS_PER_DAY, unit: "jobs" };
  await consumeDailyQuota(tx, { locationId, quota: jobsPerDay, amount: 1 });
  const bytesPerDay = { name: "job_bytes", maximum: config.JOBS_BYTES_PER_DAY, unit: "bytes" };
  await consumeDailyQuota(tx, { locationId, quota: bytesPerDay, amount: Buffer.byteLength(job.message) });
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

/** The fates of a parent that a child's failure can bring about: one at most. */
const fates = ["failParentOnFailure", "ignoreDependencyOnFailure", "removeDependencyOnFailure"] as const;

/** What an installation does not allow of a job, and what contradicts itself, each with the reason. */
function checkJob({ message, duration, jobOptions }: NewJob, config: JobsConfig, now: number): Fault[] {
  const { JOBS_LONGEST_DURATION: longest, JOBS_MOST_ATTEMPTS: maxAttempts, JOBS_SHORTEST_REPEAT: shortest } = config;
  const { attempts = 1, sizeLimit = 0, repeat } = jobOptions;
  const faults: Fault[] = [];
  const refuse = (isFault: unknown, path: string, code: string, text: string) => {
    if (isFault) faults.push({ in: "body", path, code, message: text });
  };
  const conflict = (isFault: unknown, option: string, text: string) =>
    refuse(isFault, `jobOptions.${option}`, "conflict", text);
  const size = Buffer.byteLength(JSON.stringify({ message, duration }));
  const sizeText = `The payload has ${size} bytes as JSON, more than this limit`;

  refuse(duration > longest, "duration", "too_big", `A job may take ${longest} milliseconds at most`);
  refuse(attempts > maxAttempts, "jobOptions.attempts", "too_big", `A job may be tried ${maxAttempts} times at most`);
  refuse(sizeLimit > 0 && size > sizeLimit, "jobOptions.sizeLimit", "too_big", sizeText);

  const asked = fates.filter((fate) => jobOptions[fate]);
  for (const fate of asked) {
    conflict(asked.length > 1, fate, `Of ${asked.join(", ")} one at most: a parent has one fate`);
  }
  const isDuplicable = jobOptions.deduplication && jobOptions.parent;
  conflict(isDuplicable, "deduplication", "A job that has a parent cannot be deduplicated");
  return repeat ? [...faults, ...checkRepeat(jobOptions, shortest, now)] : faults;
}
