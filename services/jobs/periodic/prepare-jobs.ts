import type { PeriodicTask } from "@pragma/runtime/define-service";
import { dueDateOf } from "../create-job.ts";
import type { Jobs } from "../jobs.ts";
import { findUnprepared, prepareJob } from "../queries/jobs.ts";
import { endRepeating } from "../queries/outcomes.ts";
import { scheduleRun } from "../repeat-job.ts";

const portion = 500;

/** Makes jobs ready that were created by a version whose queues kept when each was due: those of an upgrade. */
export const prepareJobs: PeriodicTask<Pick<Jobs, "db">> = {
  name: "prepare jobs of an earlier version",
  everySeconds: 30,
  async run({ db }) {
    for (const job of await findUnprepared(db.sql, portion)) {
      await db.transaction(async (tx) => {
        if (!job.options.repeat) return prepareJob(tx, job, dueDateOf(job));
        await scheduleRun(tx, job);
        await endRepeating(tx, job);
      });
    }
  },
};
