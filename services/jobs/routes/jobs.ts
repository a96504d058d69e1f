import { ApiError } from "@pragma/contracts/errors";
import { CreateJobRequest, CreateJobResponse, JobState, jobIdSchema } from "@pragma/contracts/job";
import { createRouteDefiner, createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { findOrCreateJob, getPublicJobQueueName, type JobsServiceContext } from "../find-or-create-job.ts";
import { publicJobsBullJobName } from "../job-queue.ts";
import { type JobRow, jobColumns } from "../queries/jobs.ts";

const locationIdQuery = z.object({
  locationId: locationIdQueryParameter("ID of the job's location. Defaults to the API key's location."),
});

const defineJobsRoute = createRouteDefiner<JobsServiceContext>();
const jobRouteDefaults = { tag: "Jobs", audience: "public", scope: "jobs:write" } as const;

export const getJobRoute = defineJobsRoute({
  method: "get",
  path: "/v1/jobs/{id}/",
  operationId: "getJob",
  ...jobRouteDefaults,
  summary: "Get a job",
  description:
    "Returns a job with its state, progress and result. If the job finished and was later removed, the response is a 404 error.",
  request: { params: z.object({ id: jobIdSchema }), query: locationIdQuery },
  responses: {
    200: { description: "The job, with its state, progress and result", schema: JobState },
    304: { description: "The client's cached response is current" },
  },
  errors: ["location_forbidden", "job_not_found"],
  async handle({ params, query, principal, services, header }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const { sql } = services.db;
    const [job] = await sql<JobRow[]>`
      select ${jobColumns(sql)} from location_jobs where location_id = ${locationId} and id = ${params.id}`;
    if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${params.id}.` });
    const text = JSON.stringify(toJobStatusResponse(job));
    return createTaggedJsonResponse(text, { ifNoneMatch: header("if-none-match") });
  },
});

function toJobResponse({ id, locationId, message, duration, options, timestamp }: JobRow): CreateJobResponse {
  const names = { queueName: getPublicJobQueueName(locationId), jobName: publicJobsBullJobName };
  return { id, ...names, jobOptions: options, payload: { message, duration }, timestamp };
}

function toJobStatusResponse(job: JobRow): JobState {
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

function toJobState({ outcome, options, leaseExpiresAt, dueAt, pendingChildren, priority }: JobRow): JobState["state"] {
  const now = new Date();
  if (outcome) return outcome;
  if (options.repeat) return "repeating";
  if (leaseExpiresAt && leaseExpiresAt > now) return "active";
  if (dueAt && dueAt > now) return "delayed";
  if (pendingChildren > 0) return "waiting-children";
  return priority > 0 ? "prioritized" : "waiting";
}

export const createJobRoute = defineJobsRoute({
  method: "post",
  path: "/v1/jobs/",
  operationId: "createJob",
  ...jobRouteDefaults,
  summary: "Create a job",
  description:
    "Adds a job to a location's queue. The job runs for its `duration`, reports its progress, and returns its `message` as the result. " +
    "`jobOptions` contains the options of a BullMQ job. The API rejects unsupported combinations of options with an error that explains the problem. " +
    "A finished job never runs again, even if the queue is lost and must be restored.\n\n" +
    "The number of unfinished jobs is limited per API key and per location, and the number of new jobs per day is limited per location. Other limits apply to the number of repeating jobs, the number of attempts, the duration of a job, and the time between the runs of a repeating job.",
  request: { query: locationIdQuery, body: createValidatingJsonBodyParser(CreateJobRequest) },
  responses: {
    201: { description: "The new job, which was added to the queue", schema: CreateJobResponse },
    200: { description: "The existing job with the same `jobId` or deduplication ID", schema: CreateJobResponse },
    204: {
      description:
        "An earlier request with the same `Idempotency-Key` took effect, but its response exceeded a limit for stored responses. This response therefore has no body.",
    },
  },
  errors: ["location_forbidden", "location_not_found", "too_many_jobs", "limit_reached", "quota_exceeded"],
  async handle({ body, query, principal, services, context }) {
    const { id: locationId } = await resolveRequestedLocation(principal, query.locationId, services.locations, context);
    const { job, isNew } = await findOrCreateJob(services, { locationId, principal, job: body, context });
    context.addLogFields({ jobId: job.id, isNew });
    return jsonResponse(isNew ? 201 : 200, toJobResponse(job), { location: `/v1/jobs/${job.id}` });
  },
});
