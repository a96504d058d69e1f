import { ApiError } from "@pragma/contracts/errors";
import { type Job, JobId, JobStatus } from "@pragma/contracts/job";
import { ownLocation } from "@pragma/runtime/own-location";
import { taggedByContent } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../jobs.ts";
import { findJob, type JobRow } from "../queries/jobs.ts";
import { jobName } from "../queue.ts";

export const locationQuery = z.object({
  locationId: z.guid().optional().meta({ description: "For keys that may act for any location" }),
});

export const getJob = defineRoute({
  method: "get",
  path: "/v1/jobs/{id}/",
  operationId: "getJob",
  tag: "Jobs",
  audience: "public",
  scope: "jobs:write",
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
export const queueNameOf = (locationId: string) => `jobs-${locationId}`;

export function jobReply({ id, locationId, message, duration, options, timestamp }: JobRow): Job {
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
