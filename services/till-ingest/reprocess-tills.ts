import type { Principal } from "@pragma/contracts/principal";
import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/claim-loop";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { PeriodicTask } from "@pragma/runtime/define-service";
import { removeRows } from "@pragma/runtime/periodic";
import type { Transaction } from "@pragma/runtime/postgres";
import { type RequestContext, withRequestContext } from "@pragma/runtime/request-context";
import { announceTill } from "./announce-till.ts";
import { findUnfinished, noteProgress, takePortion, takeReprocessing } from "./queries/reprocessings.ts";
import { findReasons, insertVersion } from "./queries/till-versions.ts";
import { countPending, lockTill, nextRevision, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";
import { tillNotFound } from "./till-location.ts";

/** Who has a till processed again: kept with the revision. */
export type Reprocessor = Pick<Principal, "keyId" | "consumer">;

interface ReprocessTill {
  id: string;
  locationId: string | null;
  by: Reprocessor;
  context: RequestContext;
}

/**
 * Has a till's report made again from the body that it has, as its next revision. While an earlier reprocessing waits to
 * be done, that one is it.
 *
 * @throws `ApiError` till_not_found when there is no such till, or another location's (`locationId` null: any location's);
 * quota_exceeded when the location has made too many revisions today.
 */
export async function reprocessTill(
  { db, sweepAfter, revisionQuota }: Pick<TillIngest, "db" | "sweepAfter" | "revisionQuota">,
  { id, locationId, by, context }: ReprocessTill,
): Promise<TillRow> {
  return db.transaction(async (tx) => {
    const till = await lockTill(tx, id);
    if (!till || (locationId !== null && till.locationId !== locationId)) throw tillNotFound(id);
    if (await isBeingReprocessed(tx, till)) return till;
    await consumeDailyQuota(tx, { locationId: till.locationId, quota: revisionQuota, amount: 1 });
    return announceNextRevision(tx, till, { sweepAfter, by, traceparent: context.traceparent });
  });
}

/**
 * Whether the till's current revision is a reprocessing that was announced and has no result yet. One that is overdue is
 * not waited for: something was lost, or went wrong.
 */
async function isBeingReprocessed(tx: Transaction, till: TillRow): Promise<boolean> {
  const isPending = till.nextSweepAt !== null && till.nextSweepAt > new Date() && till.sweeps === 0;
  return isPending && (await findReasons(tx, [till.id])).get(till.id) === "reprocess";
}

/** The till, locked by the caller, is processed again. */
async function announceNextRevision(
  tx: Transaction,
  till: TillRow,
  { sweepAfter, by, traceparent }: { sweepAfter: number; by: Reprocessor; traceparent: string | undefined },
): Promise<TillRow> {
  const next = await nextRevision(tx, till, { sweepAfter });
  await insertVersion(tx, next, { reason: "reprocess", ...by });
  await announceTill(tx, next, { reason: "reprocess", traceparent });
  return next;
}

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

/** Removes what is known of reprocessings that finished more than 30 days ago. */
export const removeOldReprocessings: PeriodicTask<Pick<TillIngest, "db">> = {
  name: "remove old reprocessings",
  everySeconds: 3_600,
  async run({ db }) {
    await removeRows(db.sql, "reprocessings", db.sql`finished_at < now() - interval '30 days'`);
  },
};
