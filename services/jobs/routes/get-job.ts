import { ApiError } from "@pragma/contracts/errors";
import { JobId, JobStatus } from "@pragma/contracts/job";
import { ownLocation } from "@pragma/runtime/own-location";
import { taggedByContent } from "@pragma/runtime/reply";
import { z } from "zod";
import { jobStatusReply } from "../job-reply.ts";
import { defineRoute } from "../jobs.ts";
import { findJob } from "../queries/jobs.ts";

export const getJob = defineRoute({
  method: "get",
  path: "/v1/jobs/{id}/",
  operationId: "getJob",
  tag: "Jobs",
  audience: "public",
  scope: "jobs:write",
  summary: "Get a job",
  description: "A job, where it is, how far it is, and what it came to. Jobs that were forgotten are not there.",
  request: {
    params: z.object({ id: JobId }),
    query: z.object({
      locationId: z.guid().optional().meta({ description: "For keys that may act for any location" }),
    }),
  },
  responses: {
    200: { description: "The job", schema: JobStatus },
    304: { description: "The client has it already" },
  },
  errors: ["location_forbidden", "job_not_found"],
  async handle({ params, query, principal, services, header }) {
    const locationId = ownLocation(principal, query.locationId);
    const job = await findJob(services.db.sql, { location_id: locationId, id: params.id });
    if (!job) throw new ApiError("job_not_found", { detail: `This location has no job ${params.id}.` });
    return taggedByContent(JSON.stringify(jobStatusReply(job)), { ifNoneMatch: header("if-none-match") });
  },
});
