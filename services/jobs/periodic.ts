import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { Jobs } from "./jobs.ts";
import { endRepeating, scheduleRun } from "./lifecycle.ts";
import { removeExcess, removeOld } from "./queries/removing.ts";
import { findWithoutRun, returnLostJobs } from "./queries/waiting.ts";

/** Has jobs wait in PostgreSQL again that are lost, or that an older version kept in queues of its own. */
export const keepJobsMoving: PeriodicTask<Pick<Jobs, "db">> = {
  name: "return lost jobs",
  everySeconds: 2,
  async run({ db }) {
    await returnLostJobs(db.sql);
    for (const job of await findWithoutRun(db.sql, 500)) {
      await db.transaction(async (tx) => {
        await scheduleRun(tx, job);
        await endRepeating(tx, job);
      });
    }
  },
};

const portion = 5_000;

/** Removes jobs that finished long ago, and the oldest of a location that has too many. */
export const removeOldJobs: PeriodicTask<Pick<Jobs, "db" | "config">> = {
  name: "forget old jobs",
  everySeconds: 3_600,
  async run({ db: { sql }, config: { JOBS_KEPT_DAYS: days, JOBS_KEPT_PER_LOCATION: perLocation } }) {
    while ((await removeOld(sql, { days, limit: portion })) === portion);
    while ((await removeExcess(sql, { perLocation, limit: portion })) === portion);
  },
};
