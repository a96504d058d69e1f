import type { Principal } from "@pragma/contracts/principal";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import type { Transaction } from "@pragma/runtime/postgres";
import type { RequestContext } from "@pragma/runtime/request-context";
import { announceTill } from "./announce-till.ts";
import { tillNotFound } from "./known-till.ts";
import { findReasons, insertVersion } from "./queries/till-versions.ts";
import { lockTill, nextRevision, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

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
export async function isBeingReprocessed(tx: Transaction, till: TillRow): Promise<boolean> {
  const isPending = till.nextSweepAt !== null && till.nextSweepAt > new Date() && till.sweeps === 0;
  return isPending && (await findReasons(tx, [till.id])).get(till.id) === "reprocess";
}

/** The till, locked by the caller, is processed again. */
export async function announceNextRevision(
  tx: Transaction,
  till: TillRow,
  { sweepAfter, by, traceparent }: { sweepAfter: number; by: Reprocessor; traceparent: string | undefined },
): Promise<TillRow> {
  const next = await nextRevision(tx, till, { sweepAfter });
  await insertVersion(tx, next, { reason: "reprocess", ...by });
  await announceTill(tx, next, { reason: "reprocess", traceparent });
  return next;
}
