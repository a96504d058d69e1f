import type { PeriodicTask } from "@pragma/runtime/define-service";
import { announceTill } from "../announce-till.ts";
import { findReasons } from "../queries/till-versions.ts";
import { postponeSweep, takeOverdue } from "../queries/tills.ts";
import type { TillIngest } from "../till-ingest.ts";

/** Tills that are announced again in one turn at most: a lost stream is made up for in portions. */
const mostAtATime = 1_000;

/**
 * Announces again, under the same revision, every till that has been without its result for too long: its event or its
 * report's was lost, or the till could not be processed, and then its message is parked once more.
 */
export const sweepUnfinished: PeriodicTask<Pick<TillIngest, "db" | "log" | "sweepAfter">> = {
  name: "sweep unfinished tills",
  everySeconds: 60,
  async run({ db, log, sweepAfter }, context) {
    const swept = await db.transaction(async (tx) => {
      const tills = await takeOverdue(tx, mostAtATime);
      const ids = tills.map(({ id }) => id);
      const reasons = await findReasons(tx, ids);
      for (const till of tills) {
        const reason = reasons.get(till.id) ?? "push";
        await announceTill(tx, till, { reason, traceparent: context?.traceparent });
      }
      await postponeSweep(tx, ids, { sweepAfter });
      return tills.length;
    });
    if (swept > 0) log.warn({ tills: swept }, "tills without a result announced again");
  },
};
