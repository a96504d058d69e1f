import { createHash } from "node:crypto";
import { normalizeClientGeneratedUuid } from "@pragma/contracts/fields";
import { redactPersonalData } from "@pragma/contracts/personal-data";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import type { TillIngestServiceContext } from "../context.ts";
import { removeUnreferencedObject } from "../periodic/remove-unused-bodies.ts";
import { buildTillObjectKey, confirmTillObjectUpload, recordPendingUpload } from "../queries/pending-uploads.ts";
import { scheduleOtherTillBodyRemoval } from "../queries/till-versions.ts";
import { findTillRow, lockTillRow } from "../queries/tills.ts";
import { createNextTillRevision } from "../till-revisions.ts";

/**
 * Returns a till body without the personal data of the given orders, or of the whole till if `orderIds` is null.
 * Numbers can lose digits that a JavaScript number cannot represent. Returns the same bytes if nothing was erased.
 */
export function erasePersonalDataInTillBody(bytes: Uint8Array, orderIds: ReadonlySet<string> | null): Uint8Array {
  const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const erased = orderIds === null ? redactPersonalData(body) : eraseMatchingOrders(body, orderIds);
  return erased === body ? bytes : new TextEncoder().encode(JSON.stringify(erased));
}

/** Erases in objects with one of these ids as `id` (orders of V2 tills) or `order_id` (tickets of V1 tills). */
function eraseMatchingOrders(value: unknown, orderIds: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { id, order_id: ticketId } = value as { id?: unknown; order_id?: unknown };
  const isErased = (field: unknown) => typeof field === "string" && orderIds.has(normalizeClientGeneratedUuid(field));
  if (isErased(id) || isErased(ticketId)) return redactPersonalData(value);
  const entries = Object.entries(value).map(([name, field]) => [name, eraseMatchingOrders(field, orderIds)] as const);
  if (entries.every(([name, field]) => field === (value as Record<string, unknown>)[name])) return value;
  return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries);
}

const author = { keyId: "00000000-0000-0000-0000-000000000000", consumer: "erasure of personal data" };

interface TillErasure {
  locationId: string;
  tillId: string;
  /** If null, all personal data of the till is erased, inside and outside its orders. */
  orderIds: string[] | null;
  traceparent: string | undefined;
}

/**
 * Creates a revision of a till whose body lacks the personal data of the given orders. Every earlier body is removed,
 * because it may contain the data. If the current body has nothing to erase, it is kept, and becomes a revision only if
 * an earlier body was removed: the report, exports and copies of clients may come from that one. Does nothing if the
 * till does not exist. @throws Error when the till was replaced at the same time.
 */
export async function eraseTillPersonalData(
  { db, objects, requeueAfterSeconds }: Pick<TillIngestServiceContext, "db" | "objects" | "requeueAfterSeconds">,
  { locationId, tillId, orderIds, traceparent }: TillErasure,
): Promise<void> {
  const existing = await findTillRow(db.sql, { locationId, id: tillId });
  if (!existing) return;
  const body = erasePersonalDataInTillBody(await objects.get(existing.objectKey), orderIds && new Set(orderIds));
  const hash = createHash("sha256").update(body).digest("hex");
  const isChanged = hash !== existing.hash;
  let { objectKey } = existing;
  if (isChanged) {
    objectKey = await recordPendingUpload(db.sql, buildTillObjectKey({ locationId, hash }));
    await objects.put(objectKey, body);
  }
  const removed = await db.transaction(async (tx) => {
    const till = await lockTillRow(tx, existing);
    if (till?.hash !== existing.hash) throw new Error(`Till ${tillId} was replaced during its erasure.`);
    // If nothing was erased, the locked row has the current key: the body may have been compressed in the meantime.
    if (!isChanged) objectKey = till.objectKey;
    const removedKeys = await scheduleOtherTillBodyRemoval(tx, { locationId, tillId, objectKey });
    if (!isChanged && removedKeys.length === 0) return [];
    // The time zone is that of the locked row: the till may have been reprocessed in another one in the meantime.
    const erased = { ...existing, timeZone: till.timeZone, hash, objectKey, size: body.byteLength };
    const pushedHash = existing.pushedHash ?? existing.hash;
    await createNextTillRevision(tx, till, {
      ...{ reason: "replace", author, traceparent, isErasure: true, requeueAfterSeconds },
      ...(isChanged && { body: { ...erased, pushedHash } }),
    });
    if (isChanged) await confirmTillObjectUpload(tx, objectKey);
    return removedKeys;
  });
  for (const key of removed) await removeUnreferencedObject({ db, objects }, key);
}

/** Erases the personal data of orders, or of a whole till, in the till's body. A repeated event changes nothing. */
export const tillOrderRedactionSubscription = defineEventSubscription<TillIngestServiceContext, "orders.erased">(
  "orders.erased",
  async ({ data: { locationId, tillId, orderIds, isWholeTill }, services, context, once }) => {
    const { traceparent } = context;
    if (tillId !== null)
      await eraseTillPersonalData(services, {
        ...{ locationId, tillId, traceparent },
        orderIds: isWholeTill ? null : orderIds,
      });
    await once(async () => {});
  },
  { concurrency: 2, shouldCheckInboxFirst: true },
);
