import type { Principal } from "@pragma/contracts/principal";
import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { consumeDailyQuota } from "@pragma/runtime/limits/daily-quota";
import { type RequestContext, runWithRequestContext } from "@pragma/runtime/observability/request-context";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { TillIngestContext } from "./context.ts";
import { publishTillPushed } from "./publish-till-events.ts";
import {
  findUnfinishedReprocessing,
  lockNextTills,
  lockReprocessing,
  recordReprocessingProgress,
} from "./queries/reprocessings.ts";
import { findRevisionReasons, insertTillVersion } from "./queries/till-versions.ts";
import { countPendingTills, createNextRevision, lockTill, type TillRow } from "./queries/tills.ts";
import { tillNotFoundError } from "./resolve-till-location.ts";

/** Who has a till processed again: kept with the revision. */
export type RevisionAuthor = Pick<Principal, "keyId" | "consumer">;

interface TillReprocessing {
  id: string;
  locationId: string | null;
  by: RevisionAuthor;
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
  { db, sweepAfter, revisionQuota }: Pick<TillIngestContext, "db" | "sweepAfter" | "revisionQuota">,
  { id, locationId, by, context }: TillReprocessing,
): Promise<TillRow> {
  return db.transaction(async (tx) => {
    const till = await lockTill(tx, id);
    if (!till || (locationId !== null && till.locationId !== locationId)) throw tillNotFoundError(id);
    if (await isBeingReprocessed(tx, till)) return till;
    await consumeDailyQuota(tx, { locationId: till.locationId, quota: revisionQuota, amount: 1 });
    return createReprocessRevision(tx, till, { sweepAfter, by, traceparent: context.traceparent });
  });
}

/**
 * Whether the till's current revision is a reprocessing that was announced and has no result yet. One that is overdue is
 * not waited for: something was lost, or went wrong.
 */
async function isBeingReprocessed(tx: SqlTransaction, till: TillRow): Promise<boolean> {
  const isPending = till.nextSweepAt !== null && till.nextSweepAt > new Date() && till.sweeps === 0;
  return isPending && (await findRevisionReasons(tx, [till.id])).get(till.id) === "reprocess";
}

/** The till, locked by the caller, is processed again. */
async function createReprocessRevision(
  tx: SqlTransaction,
  till: TillRow,
  { sweepAfter, by, traceparent }: { sweepAfter: number; by: RevisionAuthor; traceparent: string | undefined },
): Promise<TillRow> {
  const next = await createNextRevision(tx, till, { sweepAfter });
  await insertTillVersion(tx, next, { reason: "reprocess", ...by });
  await publishTillPushed(tx, next, { reason: "reprocess", traceparent });
  return next;
}

/** Tills announced in one transaction: few enough not to hold up pushes of the same tills. */
const batchSize = 100;
/** Tills that may wait for their result when more are announced: those that are pushed meanwhile wait behind them. */
const maxPendingTills = 1_000;

type ReprocessingServices = Pick<TillIngestContext, "db" | "log" | "sweepAfter">;

/**
 * Works off orders to process many tills again, a portion at a time, that of the order which has come least far. The
 * place that one came to is in PostgreSQL, in the transaction of what was announced: no till is left out or announced
 * twice, whichever process dies.
 */
export function startReprocessingLoop(services: ReprocessingServices): ClaimLoop<string> {
  const { db, log } = services;
  return startClaimLoop({
    name: "reprocessings",
    log,
    async claim() {
      const ids = await findUnfinishedReprocessing(db.sql);
      return ids.length > 0 && (await countPendingTills(db.sql, maxPendingTills)) < maxPendingTills ? ids : [];
    },
    processItem: (id) => runWithRequestContext({}, ({ traceparent }) => reprocessBatch(services, { id, traceparent })),
    concurrency: 1,
    pollMs: 1_000,
  });
}

async function reprocessBatch(
  { db, log, sweepAfter }: ReprocessingServices,
  { id, traceparent }: { id: string; traceparent: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const reprocessing = await lockReprocessing(tx, id);
    if (!reprocessing) return;
    const tills = await lockNextTills(tx, reprocessing, batchSize);
    const by = { keyId: reprocessing.keyId, consumer: reprocessing.consumer };
    for (const till of tills) {
      if (!(await isBeingReprocessed(tx, till)))
        await createReprocessRevision(tx, till, { sweepAfter, by, traceparent });
    }
    await recordReprocessingProgress(tx, reprocessing, { count: tills.length, place: tills.at(-1)?.id });
    if (tills.length === 0)
      log.info({ reprocessing: reprocessing.id, tills: reprocessing.done }, "reprocessing finished");
  });
}

/** Removes what is known of reprocessings that finished more than 30 days ago. */
export const removeOldReprocessings: PeriodicTask<Pick<TillIngestContext, "db">> = {
  name: "remove old reprocessings",
  intervalSeconds: 3_600,
  async run({ db }) {
    await deleteRowsInBatches(db.sql, "reprocessings", db.sql`finished_at < now() - interval '30 days'`);
  },
};
