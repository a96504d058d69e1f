import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import type { Jobs } from "./jobs.ts";
import { jobsConfig } from "./jobs.ts";
import { countAllUnfinished } from "./queries/jobs.ts";
import { removeOldJobs } from "./queries/removing.ts";
import { openQueue } from "./queue.ts";
import { createJobRoute, getJob } from "./routes/jobs.ts";
import { type Perform, waitOut } from "./run-job.ts";

/** The jobs service, given what doing a job is. */
export function defineJobsService(perform: Perform) {
  return defineService<typeof jobsConfig, Jobs>({
    name: "jobs",
    module: import.meta.url,
    config: jobsConfig,
    open({ db, log, metrics, registry }, config) {
      metrics.observe("jobs_unfinished", "Public jobs that have not finished", () => countAllUnfinished(db.sql));
      const queue = openQueue(config, { db, log, perform });
      return {
        services: { db, config, queue, locations: locationsFrom(registry, "jobs") },
        checks: { redis: queue.check },
        queues: () => [queue.queue],
        close: queue.close,
      };
    },
    routes: [createJobRoute, getJob],
    periodic: [
      { name: "forget old jobs", everySeconds: 3_600, run: ({ db, config }) => removeOldJobs(db.sql, config) },
    ],
  });
}

/** Offers queues of jobs to whoever may use them, and does the jobs. */
export default defineJobsService(waitOut);
