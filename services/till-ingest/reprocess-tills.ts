import type { Principal } from "@pragma/contracts/principal";
import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import { consumeDailyQuotasOrThrow } from "@pragma/runtime/limits/daily-quota";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { TillIngestServiceContext } from "./context.ts";
import { writeTillPushedToOutbox } from "./publish-till-events.ts";
import {
  findNextBulkReprocessingId,
  listNextTillsToReprocess,
  lockTillsToReprocess,
  recordBulkReprocessingProgress,
  tryLockBulkReprocessingRow,
} from "./queries/reprocessings.ts";
import { findTillLocationId } from "./queries/till-directory.ts";
import { fillTillRevisionLocations } from "./queries/till-location-backfill.ts";
import { groupByLocation } from "./queries/till-partitions.ts";
import { findCurrentTillRevisionReasons, insertTillRevision } from "./queries/till-versions.ts";
import { countTillsNotOverdueForReport, lockTillRow, saveNextTillRevision, type TillRow } from "./queries/tills.ts";
import { createTillNotFoundError } from "./resolve-till-location.ts";

/** The caller that requested a reprocessing, recorded as the author of the revision. */
export type TillRevisionAuthor = Pick<Principal, "keyId" | "consumer">;

interface TillReprocessing {
  id: string;
  locationId: string | null;
  author: TillRevisionAuthor;
  audit: AuditSource;
  context: ObservabilityContext;
}

/**
 * Requests that a till's report is computed again from its current body, and returns the till with its next revision.
 * If an earlier reprocessing of the till is pending and not overdue, returns the till with its current revision
 * instead.
 *
 * @throws `ApiError` till_not_found if there is no such till in the location (`locationId` null: in any location);
 * quota_exceeded.
 */
export async function requestTillReprocessing(
  {
    db,
    requeueAfterSeconds,
    quotas,
  }: Pick<TillIngestServiceContext, "db" | "requeueAfterSeconds"> & {
    /** Null if the request does not count, because it is an operator's. */
    quotas: Pick<TillIngestServiceContext, "revisionQuota" | "orderQuota"> | null;
  },
  { id, locationId, author, audit, context }: TillReprocessing,
): Promise<TillRow> {
  const tillLocationId = locationId ?? (await findTillLocationId(db, id));
  if (tillLocationId === undefined) throw createTillNotFoundError(id);
  return db.transaction(async (tx) => {
    const till = await lockTillRow(tx, { locationId: tillLocationId, id });
    if (!till) throw createTillNotFoundError(id);
    if (await isBeingReprocessed(db, tx, till)) return till;
    if (quotas)
      await consumeDailyQuotasOrThrow(tx, till.locationId, [
        { quota: quotas.revisionQuota, amount: 1 },
        { quota: quotas.orderQuota, amount: till.orderCount ?? 0 },
      ]);
    await publishAuditEvent(tx, audit, {
      ...{ action: "till.reprocessed", locationId: till.locationId, target: { type: "till", id: till.id } },
    });
    return createReprocessRevision(tx, till, { requeueAfterSeconds, author, traceparent: context.traceparent });
  });
}

/**
 * Returns whether the till's current revision comes from a reprocessing that has no report yet. Returns false if the
 * report is overdue, because the event may have been lost, or the calculation may have failed.
 */
async function isBeingReprocessed(db: Database, tx: SqlTransaction, till: TillRow): Promise<boolean> {
  const isPending = till.nextRequeueAt !== null && till.nextRequeueAt > new Date() && till.requeueCount === 0;
  if (!isPending) return false;
  const tills = { locationId: till.locationId, tillIds: [till.id] };
  await fillTillRevisionLocations(db, tx, tills);
  return (await findCurrentTillRevisionReasons(tx, tills)).get(till.id) === "reprocess";
}

/** Creates the next revision of a till with the same body. The caller must lock the till first. */
async function createReprocessRevision(
  tx: SqlTransaction,
  till: TillRow,
  {
    requeueAfterSeconds,
    author,
    traceparent,
  }: { requeueAfterSeconds: number; author: TillRevisionAuthor; traceparent: string | undefined },
): Promise<TillRow> {
  const next = await saveNextTillRevision(tx, till, { requeueAfterSeconds });
  await insertTillRevision(tx, next, { reason: "reprocess", ...author });
  await writeTillPushedToOutbox(tx, next, { reason: "reprocess", traceparent });
  return next;
}

/**
 * Maximum number of tills per transaction. Limited, because replacements, erasures and report results of these tills
 * wait until the transaction ends.
 */
const batchSize = 100;
/** Queuing pauses while this number of tills wait for reports, so that newly pushed tills do not wait too long. */
const maxPendingTills = 1_000;

type ReprocessingServices = Pick<TillIngestServiceContext, "db" | "log" | "requeueAfterSeconds">;

/**
 * Starts the loop that queues the tills of reprocessings in batches. The loop always continues the reprocessing with
 * the least progress. Progress is stored in the transaction that queues the batch, so that no batch is lost or queued
 * twice when a process dies.
 */
export function startTillReprocessingLoop(services: ReprocessingServices): ClaimLoop<string> {
  const { db, log } = services;
  return startClaimLoop({
    name: "reprocessings",
    log,
    async claim() {
      const ids = await findNextBulkReprocessingId(db.sql);
      return ids.length > 0 && (await countTillsNotOverdueForReport(db.sql, maxPendingTills)) < maxPendingTills
        ? ids
        : [];
    },
    processItem: (id) =>
      runWithObservabilityContext({}, ({ traceparent }) => reprocessBatch(services, { id, traceparent })),
    concurrency: 1,
    pollMs: 1_000,
  });
}

async function reprocessBatch(
  { db, log, requeueAfterSeconds }: ReprocessingServices,
  { id, traceparent }: { id: string; traceparent: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const reprocessing = await tryLockBulkReprocessingRow(tx, id);
    if (!reprocessing) return;
    const { tills: keys, partition } = await listNextTillsToReprocess(tx, reprocessing, batchSize);
    const author = { keyId: reprocessing.keyId, consumer: reprocessing.consumer };
    for (const [locationId, tills] of groupByLocation(keys)) {
      const ids = tills.map(({ id }) => id);
      for (const till of await lockTillsToReprocess(tx, reprocessing, { locationId, ids })) {
        if (!(await isBeingReprocessed(db, tx, till)))
          await createReprocessRevision(tx, till, { requeueAfterSeconds, author, traceparent });
      }
    }
    await recordBulkReprocessingProgress(tx, reprocessing, { count: keys.length, last: keys.at(-1), partition });
    if (keys.length === 0)
      log.info({ reprocessing: reprocessing.id, tills: reprocessing.requeuedCount }, "reprocessing finished");
  });
}
