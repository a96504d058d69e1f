import { createHash } from "node:crypto";
import { clientGeneratedIdToUuid } from "@pragma/contracts/fields";
import { redactPersonalData } from "@pragma/contracts/personal-data";
import { tillObjectKey } from "./accept-till.ts";
import type { TillIngestContext } from "./context.ts";
import { removeUnreferencedObject } from "./periodic/remove-bodies.ts";
import { publishTillPushed } from "./publish-till-events.ts";
import { confirmUpload, recordPendingUpload } from "./queries/pending-uploads.ts";
import { insertTillVersion, markOtherBodiesRemoved } from "./queries/till-versions.ts";
import { createNextRevision, findTill, lockTill, recordTillErasure, type TillRow } from "./queries/tills.ts";

/**
 * A till's body without the personal data of some of its orders, or of all of it (`orderIds` null). Amounts, dates and
 * numbers stay to the last digit that JSON.parse keeps. The same bytes when there was nothing to erase.
 */
export function eraseOrdersInTillBody(bytes: Uint8Array, orderIds: ReadonlySet<string> | null): Uint8Array {
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const erased = orderIds === null ? redactPersonalData(body) : eraseMatchingOrders(body, orderIds);
  return erased === body ? bytes : new TextEncoder().encode(JSON.stringify(erased));
}

/** An order is what has its id as `id`, or, in the older format's lists of tickets and rows, as `order_id`. */
function eraseMatchingOrders(value: unknown, orderIds: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && hasOrderId(value, orderIds)) return redactPersonalData(value);
  const entries = Object.entries(value).map(([name, field]) => [name, eraseMatchingOrders(field, orderIds)] as const);
  if (entries.every(([name, field]) => field === (value as Record<string, unknown>)[name])) return value;
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries);
}

function hasOrderId(object: { id?: unknown; order_id?: unknown }, orderIds: ReadonlySet<string>): boolean {
  return [object.id, object.order_id].some((id) => typeof id === "string" && orderIds.has(clientGeneratedIdToUuid(id)));
}

/** Who the revision that an erasure makes is put down to. */
const erasureAuthor = { keyId: "00000000-0000-0000-0000-000000000000", consumer: "erasure of personal data" };

interface TillErasure {
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
export async function eraseTillPersonalData(
  { db, objects, sweepAfter }: Pick<TillIngestContext, "db" | "objects" | "sweepAfter">,
  { tillId, orderIds, traceparent }: TillErasure,
): Promise<void> {
  const existing = await findTill(db.sql, tillId);
  if (!existing) return;
  const body = eraseOrdersInTillBody(await objects.get(existing.objectKey), orderIds && new Set(orderIds));
  const hash = createHash("sha256").update(body).digest("hex");
  const erased: TillRow = { ...existing };
  if (hash !== existing.hash) {
    const objectKey = await recordPendingUpload(db.sql, tillObjectKey(existing.locationId, hash));
    await objects.put(objectKey, body);
    Object.assign(erased, { hash, objectKey, size: body.byteLength });
  }
  const removed = await db.transaction(async (tx) => {
    const till = await lockTill(tx, tillId);
    if (till?.hash !== existing.hash) throw new Error(`Till ${tillId} was replaced while it was being erased.`);
    if (hash !== existing.hash) {
      const next = await createNextRevision(tx, till, { body: erased, sweepAfter });
      await recordTillErasure(tx, { tillId, pushedHash: existing.pushedHash ?? existing.hash });
      await insertTillVersion(tx, next, { reason: "replace", ...erasureAuthor });
      await publishTillPushed(tx, next, { reason: "replace", isErasure: true, traceparent });
      await confirmUpload(tx, erased.objectKey);
    }
    return markOtherBodiesRemoved(tx, { tillId, objectKey: erased.objectKey });
  });
  for (const key of removed) await removeUnreferencedObject({ db, objects }, key);
}
