import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/claim-loop";
import { withRequestContext } from "@pragma/runtime/request-context";
import { findUnfinished, noteProgress, takePortion, takeReprocessing } from "./queries/reprocessings.ts";
import { countPending } from "./queries/tills.ts";
import { announceNextRevision, isBeingReprocessed } from "./reprocess-till.ts";
import type { TillIngest } from "./till-ingest.ts";

/** Tills announced in one transaction: few enough not to hold up pushes of the same tills. */
const portion = 100;
/** Tills that may wait for their result when more are announced: those that are pushed meanwhile wait behind them. */
const maxPending = 1_000;

type Reprocessing = Pick<TillIngest, "db" | "log" | "sweepAfter">;

/**
 * Works off orders to process many tills again, a portion at a time, that of the order which has come least far. The
 * place that one came to is in PostgreSQL, in the transaction of what was announced: no till is left out or announced
 * twice, whichever process dies.
 */
export function startReprocessing(services: Reprocessing): ClaimLoop<string> {
  const { db, log } = services;
  return startClaimLoop({
    name: "reprocessings",
    log,
    async claim() {
      const ids = await findUnfinished(db.sql);
      return ids.length > 0 && (await countPending(db.sql, maxPending)) < maxPending ? ids : [];
    },
    work: (id) => withRequestContext({}, ({ traceparent }) => reprocessPortion(services, { id, traceparent })),
    concurrency: 1,
    pollMs: 1_000,
  });
}

async function reprocessPortion(
  { db, log, sweepAfter }: Reprocessing,
  { id, traceparent }: { id: string; traceparent: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await takeReprocessing(tx, id);
    if (!order) return;
    const tills = await takePortion(tx, order, portion);
    const by = { keyId: order.keyId, consumer: order.consumer };
    for (const till of tills) {
      if (!(await isBeingReprocessed(tx, till))) await announceNextRevision(tx, till, { sweepAfter, by, traceparent });
    }
    await noteProgress(tx, order, { count: tills.length, place: tills.at(-1)?.id });
    if (tills.length === 0) log.info({ reprocessing: order.id, tills: order.done }, "reprocessing finished");
  });
}
