import type { PeriodicTask } from "@pragma/runtime/define-service";
import { endRepeating } from "../finish-job.ts";
import type { Jobs } from "../jobs.ts";
import { findOverdue, findWithoutRun, prepareJobs } from "../queries/waiting.ts";
import { scheduleRun } from "../repeat-job.ts";

const portion = 500;
/** A job that is in the queue for so many seconds, and that no process does, is looked for. */
const overdueSeconds = 3;

/** Gives jobs to the queue again that are not there: Redis has lost them, or the process died that was to add them. */
export const restoreLost: PeriodicTask<Pick<Jobs, "db" | "queue" | "log">> = {
  name: "give lost jobs to their queue",
  everySeconds: 2,
  async run({ db, queue, log }) {
    await prepareJobs(db.sql);
    for (const job of await findWithoutRun(db.sql, portion)) {
      await db.transaction(async (tx) => {
        await scheduleRun(tx, job);
        await endRepeating(tx, job);
      });
    }
    if (!queue.isReady()) return;
    let restored = 0;
    for (const job of await findOverdue(db.sql, { seconds: overdueSeconds, limit: portion })) {
      if (await queue.add(job)) restored += 1;
    }
    if (restored > 0) log.info({ jobs: restored }, "lost jobs are in their queue again");
  },
};
