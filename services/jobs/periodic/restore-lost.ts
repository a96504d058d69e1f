import type { PeriodicTask } from "@pragma/runtime/define-service";
import { isRedisFull } from "@pragma/runtime/redis";
import type { Jobs } from "../jobs.ts";
import { findUnqueued, markUnqueued } from "../queries/queueing.ts";

/** Jobs given to their queues in one turn. */
const portion = 500;

/**
 * Gives jobs to their queues that are in none: Redis was away when they came in, or has lost them. That Redis was
 * emptied is seen at once by a mark of this service's own that is missing then.
 */
export const restoreLost: PeriodicTask<Pick<Jobs, "db" | "queues" | "feeder" | "log">> = {
  name: "give jobs to their queues",
  everySeconds: 2,
  async run({ db, queues, feeder, log }) {
    const mark = `${queues.prefix}:jobs-are-here`;
    if (!(await queues.redis.exists(mark))) {
      await markUnqueued(db.sql);
      await queues.redis.set(mark, "1");
      log.info("queues are filled from PostgreSQL");
    }
    for (const job of await findUnqueued(db.sql, portion)) {
      await feeder.feed(job).catch((error) => {
        // What is wrong with one job does not hold up the others; Redis being away or full does.
        if (queues.redis.status !== "ready" || isRedisFull(error)) throw error;
        log.warn({ err: error, jobId: job.id, locationId: job.location_id }, "job not queued yet");
      });
    }
  },
};
