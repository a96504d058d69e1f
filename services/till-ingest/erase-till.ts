import { createHash } from "node:crypto";
import { bodyKey } from "./accept-till.ts";
import { announceTill } from "./announce-till.ts";
import { eraseOrders } from "./erase-orders.ts";
import { removeUnlessReferred } from "./periodic/remove-orphans.ts";
import { intend, settleIntent } from "./queries/object-intents.ts";
import { insertVersion, removeOtherBodies } from "./queries/till-versions.ts";
import { findTill, lockTill, nextRevision, noteErasure, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/** Who the revision that an erasure makes is put down to. */
const eraser = { keyId: "00000000-0000-0000-0000-000000000000", consumer: "erasure of personal data" };

interface EraseTill {
  tillId: string;
  /** Null: of all orders, and of whatever else names somebody. */
  orderIds: string[] | null;
  /** Of what it is erased for (W3C). */
  traceparent: string | undefined;
}

/**
 * Puts a body without personal data in the place of a till's, as its next revision, from which its report and orders are
 * made again: their figures follow from what was not touched. Every earlier body goes. A till that is not there, or has
 * nothing to erase, stays as it is.
 */
export async function eraseTill(
  { db, objects, sweepAfter }: Pick<TillIngest, "db" | "objects" | "sweepAfter">,
  { tillId, orderIds, traceparent }: EraseTill,
): Promise<void> {
  const known = await findTill(db.sql, tillId);
  if (!known) return;
  const body = eraseOrders(await objects.get(known.objectKey), orderIds && new Set(orderIds));
  const hash = createHash("sha256").update(body).digest("hex");
  const erased: TillRow = { ...known };
  if (hash !== known.hash) {
    const objectKey = await intend(db.sql, bodyKey(known.locationId, hash));
    await objects.put(objectKey, body);
    Object.assign(erased, { hash, objectKey, size: body.byteLength });
  }
  const removed = await db.transaction(async (tx) => {
    const till = await lockTill(tx, tillId);
    if (till?.hash !== known.hash) throw new Error(`Till ${tillId} was replaced while it was being erased.`);
    if (hash !== known.hash) {
      const next = await nextRevision(tx, till, { body: erased, sweepAfter });
      await noteErasure(tx, { tillId, pushedHash: known.pushedHash ?? known.hash });
      await insertVersion(tx, next, { reason: "replace", ...eraser });
      await announceTill(tx, next, { reason: "replace", isErasure: true, traceparent });
      await settleIntent(tx, erased.objectKey);
    }
    return removeOtherBodies(tx, { tillId, objectKey: erased.objectKey });
  });
  for (const key of removed) await removeUnlessReferred({ db, objects }, key);
}
