import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestContext } from "../context.ts";
import { publishTillPushed } from "../publish-till-events.ts";
import { findRevisionReasons } from "../queries/till-versions.ts";
import { lockOverdueTills, postponeRequeue } from "../queries/tills.ts";

/** Tills that are announced again in one turn at most: a lost stream is made up for in portions. */
const maxPerRun = 1_000;

/**
 * Announces again, under the same revision, every till that has been without its result for too long: its event or its
 * report's was lost, or the till could not be processed, and then its message is parked once more.
 */
export const requeueUnfinishedTills: PeriodicTask<Pick<TillIngestContext, "db" | "log" | "sweepAfter">> = {
  name: "sweep unfinished tills",
  intervalSeconds: 60,
  async run({ db, log, sweepAfter }, context) {
    const requeued = await db.transaction(async (tx) => {
      const tills = await lockOverdueTills(tx, maxPerRun);
      const ids = tills.map(({ id }) => id);
      const reasons = await findRevisionReasons(tx, ids);
      for (const till of tills) {
        const reason = reasons.get(till.id) ?? "push";
        await publishTillPushed(tx, till, { reason, traceparent: context?.traceparent });
      }
      await postponeRequeue(tx, ids, { sweepAfter });
      return tills.length;
    });
    if (requeued > 0) log.warn({ tills: requeued }, "tills without a result announced again");
  },
};
