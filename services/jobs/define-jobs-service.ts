import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { jobsConfig } from "./config.ts";
import { startDispatcher } from "./dispatcher.ts";
import type { Jobs } from "./jobs.ts";
import { forgetOldJobs } from "./periodic/forget-old.ts";
import { restoreLost } from "./periodic/restore-lost.ts";
import { countAllUnfinished } from "./queries/jobs.ts";
import { openQueue } from "./queue.ts";
import { createJobRoute } from "./routes/create-job.ts";
import { getJob } from "./routes/get-job.ts";
import { jobHandler } from "./run-job.ts";
import type { Perform } from "./wait-out.ts";

/** The jobs service, given what doing a job is. */
export function defineJobsService({ perform }: { perform: Perform }) {
  return defineService<typeof jobsConfig, Jobs>({
    name: "jobs",
    module: import.meta.url,
    config: jobsConfig,
    open({ db, log, metrics, registry }, config) {
      const queue = openQueue(config, { concurrency: config.JOBS_CONCURRENCY_PER_PROCESS, log });
      const dispatcher = startDispatcher(db, queue, { maxPerLocation: config.JOBS_CONCURRENCY, log });
      queue.work(jobHandler({ db, log, perform }), dispatcher.wake);
      metrics.observe("jobs_unfinished", "Public jobs that have not finished", () => countAllUnfinished(db.sql));
      const limits = {
        unfinishedPerKey: config.JOBS_UNFINISHED_PER_KEY,
        unfinishedPerLocation: config.JOBS_UNFINISHED_PER_LOCATION,
        repeatingPerLocation: config.JOBS_REPEATING_PER_LOCATION,
        childrenPerParent: config.JOBS_CHILDREN_PER_PARENT,
        jobsPerDay: { name: "jobs", maximum: config.JOBS_PER_DAY, unit: "jobs" },
        bytesPerDay: { name: "job_bytes", maximum: config.JOBS_BYTES_PER_DAY, unit: "bytes" },
        mostAttempts: config.JOBS_MOST_ATTEMPTS,
        shortestRepeat: config.JOBS_SHORTEST_REPEAT,
        longestDuration: config.JOBS_LONGEST_DURATION,
      };
      const locations = locationsFrom(registry, "jobs");
      return {
        services: {
          ...{ db, log, queue, dispatcher, limits, locations },
          kept: { days: config.JOBS_KEPT_DAYS, perLocation: config.JOBS_KEPT_PER_LOCATION },
        },
        checks: { redis: queue.check },
        queues: () => [queue.queue],
        async close() {
          await dispatcher.stop();
          await queue.close();
        },
      };
    },
    routes: [createJobRoute, getJob],
    periodic: [restoreLost, forgetOldJobs],
  });
}
