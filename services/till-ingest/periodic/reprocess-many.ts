import type { PeriodicTask } from "@pragma/runtime/define-service";
import { noteProgress, takePortion, takeReprocessing } from "../queries/reprocessings.ts";
import { countPending } from "../queries/tills.ts";
import { announceNextRevision, isBeingReprocessed } from "../reprocess-till.ts";
import type { TillIngest } from "../till-ingest.ts";

/** Tills announced in one transaction: few enough not to hold up pushes of the same tills. */
const portion = 100;
/** Tills that may wait for their result when more are announced: those that are pushed meanwhile wait behind them. */
const maxPending = 1_000;

/**
 * Works off orders to process many tills again. The place that one came to is in PostgreSQL, in the transaction of what
 * was announced: no till is left out or announced twice, whichever process dies, and no queue has to be refilled.
 */
export const reprocessMany: PeriodicTask<Pick<TillIngest, "db" | "log" | "sweepAfter">> = {
  name: "reprocess many tills",
  everySeconds: 1,
  async run(services, context) {
    while (await reprocessPortion(services, context?.traceparent));
  },
};

/** Whether there may be more to do. */
async function reprocessPortion(
  { db, log, sweepAfter }: Pick<TillIngest, "db" | "log" | "sweepAfter">,
  traceparent: string | undefined,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const order = await takeReprocessing(tx);
    if (!order || (await countPending(tx, maxPending)) === maxPending) return false;
    const tills = await takePortion(tx, order, portion);
    const by = { keyId: order.key_id, consumer: order.consumer };
    for (const till of tills) {
      if (!(await isBeingReprocessed(tx, till))) await announceNextRevision(tx, till, { sweepAfter, by, traceparent });
    }
    await noteProgress(tx, order, { count: tills.length, place: tills.at(-1)?.id });
    if (tills.length === 0) log.info({ reprocessing: order.id, tills: order.done }, "reprocessing finished");
    return true;
  });
}
