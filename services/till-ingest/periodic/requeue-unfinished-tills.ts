import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import { findRevisionReasons } from "../queries/till-versions.ts";
import { groupByLocation, listTillsToRequeue, lockTillsToRequeue, recordRequeues } from "../queries/tills.ts";
import { writeTillPushedToOutbox } from "../till-revisions.ts";

/** Maximum number of tills that one run requeues. Limited, because the loss of a stream makes many tills overdue. */
const maxPerRun = 1_000;

/** Publishes `till.pushed` again if a report is overdue. If the till cannot be processed, it becomes a dead letter. */
export const requeueOverdueTillsTask: PeriodicTask<
  Pick<TillIngestServiceContext, "db" | "log" | "requeueAfterSeconds">
> = {
  name: "requeue unfinished tills",
  intervalSeconds: 60,
  async run({ db, log, requeueAfterSeconds }, context) {
    let requeued = 0;
    for (const [locationId, overdue] of groupByLocation(await listTillsToRequeue(db.sql, maxPerRun))) {
      requeued += await db.transaction(async (tx) => {
        const tills = await lockTillsToRequeue(tx, { locationId, ids: overdue.map(({ id }) => id) });
        const ids = tills.map(({ id }) => id);
        const reasons = await findRevisionReasons(tx, { locationId, tillIds: ids });
        for (const till of tills) {
          const reason = reasons.get(till.id) ?? "push";
          await writeTillPushedToOutbox(tx, till, { reason, traceparent: context?.traceparent });
        }
        await recordRequeues(tx, { locationId, ids }, { requeueAfterSeconds });
        return tills.length;
      });
    }
    if (requeued > 0) log.warn({ tills: requeued }, "requeued tills without a result");
  },
};
