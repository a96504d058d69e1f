import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import { findRevisionReasons } from "../queries/till-versions.ts";
import { groupByLocation, listTillsToRequeue, type TillRow, tillColumns } from "../queries/tills.ts";
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
    // One statement for all partitions, because usually no till is overdue. Sorted, so that PostgreSQL uses the indexes.
    const [overdue] = await db.sql`
      select from tills where next_requeue_at <= now() order by next_requeue_at limit 1`;
    if (!overdue) return;
    let requeued = 0;
    for (const [locationId, overdue] of groupByLocation(await listTillsToRequeue(db.sql, maxPerRun))) {
      requeued += await db.transaction(async (tx) => {
        const tills = await tx<TillRow[]>`
          select ${tillColumns(tx)} from tills
          where location_id = ${locationId} and id = any(${overdue.map(({ id }) => id)}::uuid[])
            and next_requeue_at <= now()
          order by next_requeue_at for update skip locked`;
        const ids = tills.map(({ id }) => id);
        const reasons = await findRevisionReasons(tx, { locationId, tillIds: ids });
        for (const till of tills) {
          const reason = reasons.get(till.id) ?? "push";
          await writeTillPushedToOutbox(tx, till, { reason, traceparent: context?.traceparent });
        }
        // The delay doubles each time, up to a day.
        await tx`
          update tills set
            requeue_count = requeue_count + 1,
            next_requeue_at = now() + least(
              make_interval(secs => ${requeueAfterSeconds} * power(2, least(requeue_count + 1, 20))), '1 day'
            )
          where location_id = ${locationId} and id = any(${ids}::uuid[])`;
        return tills.length;
      });
    }
    if (requeued > 0) log.warn({ tills: requeued }, "requeued tills without a result");
  },
};
