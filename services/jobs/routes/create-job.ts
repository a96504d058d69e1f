import { Job, NewJob } from "@pragma/contracts/job";
import { jsonBody } from "@pragma/runtime/define-route";
import { namedLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { createJob } from "../create-job.ts";
import { jobReply } from "../job-reply.ts";
import { defineRoute } from "../jobs.ts";

export const createJobRoute = defineRoute({
  method: "post",
  path: "/v1/jobs/",
  operationId: "createJob",
  tag: "Jobs",
  audience: "public",
  scope: "jobs:write",
  summary: "Create a job",
  description:
    "Puts a job in the queue of a location. It takes as long as its duration says, reports how far it is, and comes back with its message. " +
    "jobOptions are those of a queue's job; a combination that a queue cannot do is refused with the reason. " +
    "A job is done once, also when a queue has to be filled again. " +
    "A key and a location may have a number of jobs that have not finished; the jobs of a day, repeating jobs, attempts, duration and the time between the runs of a repeating job are limited too.",
  request: {
    query: z.object({
      locationId: z.guid().optional().meta({ description: "For keys that may act for any location" }),
    }),
    body: jsonBody(NewJob),
  },
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
