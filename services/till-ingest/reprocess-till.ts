import type { Principal } from "@pragma/contracts/principal";
import type { Transaction } from "@pragma/runtime/postgres";
import { announceTill } from "./announce-till.ts";
import { tillNotFound } from "./known-till.ts";
import { insertVersion } from "./queries/till-versions.ts";
import { lockTill, nextRevision, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/** Who has a till processed again: kept with the revision. */
export type Reprocessor = Pick<Principal, "keyId" | "consumer">;

/**
 * Has a till's report made again from the body that it has, as its next revision.
 *
 * @throws `ApiError` till_not_found when there is no such till, or another location's (`locationId` null: any location's).
 */
export async function reprocessTill(
  { db, sweepAfter }: Pick<TillIngest, "db" | "sweepAfter">,
  { id, locationId, by }: { id: string; locationId: string | null; by: Reprocessor },
): Promise<TillRow> {
  return db.transaction(async (tx) => {
    const till = await lockTill(tx, id);
    if (!till || (locationId !== null && till.location_id !== locationId)) throw tillNotFound(id);
    return announceNextRevision(tx, till, { sweepAfter, by });
  });
}

/** The till, locked by the caller, is processed again. */
export async function announceNextRevision(
  tx: Transaction,
  till: TillRow,
  { sweepAfter, by }: { sweepAfter: number; by: Reprocessor },
): Promise<TillRow> {
  const next = await nextRevision(tx, till, { sweepAfter });
  await insertVersion(tx, next, { reason: "reprocess", ...by });
  await announceTill(tx, next, "reprocess");
  return next;
}
