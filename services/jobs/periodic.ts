import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Jobs } from "./jobs.ts";
import { endRepeating, scheduleRun } from "./lifecycle.ts";
import { updateJob } from "./queries/jobs.ts";
import { removeOldJobs } from "./queries/removing.ts";
import { findUnprepared } from "./queries/waiting.ts";

/** Has jobs wait in PostgreSQL that an older version, which kept them in queues of its own, creates meanwhile. */
export const prepareOlderJobs: PeriodicTask<Pick<Jobs, "db">> = {
  name: "prepare jobs of an older version",
  everySeconds: 2,
  async run({ db }) {
    for (const job of await findUnprepared(db.sql, 500)) {
      const { repeat, delay = 0 } = job.options;
      await db.transaction(async (tx) => {
        if (!repeat) return updateJob(tx, job, { queuedAt: null, dueAt: new Date(job.timestamp + delay) });
        await scheduleRun(tx, job);
        await endRepeating(tx, job);
      });
    }
  },
};

/** Removes jobs that finished long ago, and the oldest of a location that has too many. */
export const forgetOldJobs: PeriodicTask<Pick<Jobs, "db" | "config">> = {
  name: "forget old jobs",
  everySeconds: 3_600,
  run: ({ db, config }) =>
    removeOldJobs(db.sql, { days: config.JOBS_KEPT_DAYS, perLocation: config.JOBS_KEPT_PER_LOCATION }),
};
