import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { TillRevisionAuthor, TillRevisionReason } from "./queries/till-versions.ts";
import { type NewTillRow, type TillRow, tillColumns } from "./queries/tills.ts";

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

interface NextTillRevision extends TillPushedDetails {
  author: TillRevisionAuthor;
  /** If omitted, the revision keeps the current body. A body without personal data has the hash of the pushed body. */
  body?: NewTillRow & Partial<Pick<TillRow, "pushedHash">>;
  timeZone?: string | undefined;
  isErasure?: boolean;
  requeueAfterSeconds: number;
}

/** Creates the next revision of a locked till, publishes `till.pushed`, and returns the till. */
export async function createNextTillRevision(
  tx: SqlTransaction,
  till: TillRow,
  { body, timeZone = till.timeZone, isErasure = false, requeueAfterSeconds, ...details }: NextTillRevision,
): Promise<TillRow> {
  const revision = till.revision + 1;
  const next = {
    ...{ revision, timeZone, isTraining: body?.isTraining ?? till.isTraining },
    ...(isErasure && { erasedRevision: revision }),
  };
  const replaced = body && {
    format: body.format,
    serverId: body.serverId,
    hash: body.hash,
    objectKey: body.objectKey,
    size: body.size,
    timeZone: body.timeZone,
    orderCount: body.orderCount,
    pushedHash: body.pushedHash ?? null,
    updatedAt: new Date(),
  };
  const [updated] = await tx<[TillRow]>`
    update tills set ${tx({ ...next, ...replaced, ...pendingResultColumns(next, requeueAfterSeconds) })}
    where location_id = ${till.locationId} and id = ${till.id} returning ${tillColumns(tx)}`;
  await recordTillRevision(tx, updated, details);
  return updated;
}

/**
 * Returns the columns of a revision that waits for its report, or for the removal of its report if it became a training
 * till.
 */
export function pendingResultColumns(
  { revision, isTraining }: Pick<TillRow, "revision" | "isTraining">,
  requeueAfterSeconds: number,
) {
  return isTraining && revision === 1
    ? { resultRevision: revision, nextRequeueAt: null, requeueCount: 0 }
    : { resultRevision: null, nextRequeueAt: new Date(Date.now() + requeueAfterSeconds * 1000), requeueCount: 0 };
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
