import { createHash } from "node:crypto";
import { toUuid } from "@pragma/contracts/fields";
import { withoutPersonalData } from "@pragma/contracts/personal-data";
import { bodyKey } from "./accept-till.ts";
import { announceTill } from "./announce-till.ts";
import { removeUnlessReferred } from "./periodic/remove-bodies.ts";
import { intend, settleIntent } from "./queries/object-intents.ts";
import { insertVersion, removeOtherBodies } from "./queries/till-versions.ts";
import { findTill, lockTill, nextRevision, noteErasure, type TillRow } from "./queries/tills.ts";
import type { TillIngest } from "./till-ingest.ts";

/**
 * A till's body without the personal data of some of its orders, or of all of it (`orderIds` null). Amounts, dates and
 * numbers stay to the last digit that JSON.parse keeps. The same bytes when there was nothing to erase.
 */
export function eraseOrders(bytes: Uint8Array, orderIds: ReadonlySet<string> | null): Uint8Array {
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const erased = orderIds === null ? withoutPersonalData(body) : withoutThoseOf(body, orderIds);
  return erased === body ? bytes : new TextEncoder().encode(JSON.stringify(erased));
}

/** An order is what has its id as `id`, or, in the older format's lists of tickets and rows, as `order_id`. */
function withoutThoseOf(value: unknown, orderIds: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && isOf(value, orderIds)) return withoutPersonalData(value);
  const entries = Object.entries(value).map(([name, field]) => [name, withoutThoseOf(field, orderIds)] as const);
  if (entries.every(([name, field]) => field === (value as Record<string, unknown>)[name])) return value;
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries);
}

function isOf(object: { id?: unknown; order_id?: unknown }, orderIds: ReadonlySet<string>): boolean {
  return [object.id, object.order_id].some((id) => typeof id === "string" && orderIds.has(toUuid(id)));
}

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
