import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { jobsServiceConfigSchema } from "./config.ts";
import type { JobsServiceContext } from "./find-or-create-job.ts";
import { startJobQueue } from "./job-queue.ts";
import { deleteOldFinishedJobRows } from "./queries/remove-jobs.ts";
import { createJobRoute, getJobRoute } from "./routes/jobs.ts";
import { type JobHandler, sleepForJobDuration } from "./run-job.ts";

/** Returns the definition of the jobs service, which queues the jobs of each location and runs them with `perform`. */
export function defineJobsService(perform: JobHandler) {
  return defineService<typeof jobsServiceConfigSchema, JobsServiceContext>({
    name: "jobs",
    module: import.meta.url,
    config: jobsServiceConfigSchema,
    createResources({ db, log, metrics, registry }, config) {
      metrics.observeGauge("jobs_unfinished", "Unfinished public jobs", async () => {
        const [{ count }] = await db.sql<[{ count: number }]>`
          select count(*) from location_jobs where finished_at is null and repeating_job_id is null`;
        return count;
      });
      const jobQueue = startJobQueue(config, { db, log, perform });
      return {
        services: { db, config, jobQueue, locations: createUncachedLocationLookup(registry, "jobs") },
        startupChecks: { redis: jobQueue.checkRedis },
        queues: () => [jobQueue.queue],
        close: jobQueue.close,
      };
    },
    routes: [createJobRoute, getJobRoute],
    periodic: [
      {
        name: "remove old jobs",
        intervalSeconds: 3_600,
        run: ({ db, config }) => deleteOldFinishedJobRows(db.sql, config),
      },
    ],
  });
}

export default defineJobsService(sleepForJobDuration);
