import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { TillRevisionAuthor, TillRevisionReason } from "./queries/till-versions.ts";
import { type NextTillRevision, saveNextTillRevision, type TillRow } from "./queries/tills.ts";

interface TillPushedDetails {
  reason: TillRevisionReason;
  traceparent: string | undefined;
}

/** Records who created a till's current revision, and publishes `till.pushed`. */
export async function recordTillRevision(
  tx: SqlTransaction,
  till: TillRow,
  { author, ...details }: TillPushedDetails & { author: TillRevisionAuthor },
): Promise<void> {
  const { locationId, id: tillId, revision, format, hash, objectKey, size } = till;
  const { keyId, consumer } = author;
  const row = { locationId, tillId, revision, reason: details.reason, format, hash, objectKey, size, keyId, consumer };
  await Promise.all([tx`insert into till_versions ${tx(row)}`, writeTillPushedToOutbox(tx, till, details)]);
}

/** Creates the next revision of a locked till, publishes `till.pushed`, and returns the till. */
export async function createNextTillRevision(
  tx: SqlTransaction,
  till: TillRow,
  { author, reason, traceparent, ...changes }: NextTillRevision & TillPushedDetails & { author: TillRevisionAuthor },
): Promise<TillRow> {
  const next = await saveNextTillRevision(tx, till, changes);
  await recordTillRevision(tx, next, { author, reason, traceparent });
  return next;
}

/** Publishes `till.pushed` for a till's current revision, in the transaction that created or requeued the revision. */
export async function writeTillPushedToOutbox(
  tx: SqlTransaction,
  till: TillRow,
  { reason, traceparent }: TillPushedDetails,
): Promise<void> {
  const { erasedRevision } = till;
  await writeEventToOutbox(tx, "till.pushed", {
    subject: till.id,
    data: {
      locationId: till.locationId,
      tillId: till.id,
      revision: till.revision,
      reason,
      pushedAt: till.createdAt.toISOString(),
      version: till.format,
      object: { key: till.objectKey, hash: till.hash },
      timeZone: till.timeZone,
      ...(erasedRevision === till.revision && { isErasure: true }),
      ...(erasedRevision !== null && { erasedRevision }),
    },
    traceparent,
  });
}
