import { otherTimeZoneTillsRequestSchema, otherTimeZoneTillsTopic } from "@pragma/contracts/till-time-zones";
import { consumeDailyQuotasOrThrow } from "@pragma/runtime/admission/daily-quota";
import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { TillIngestServiceContext } from "./context.ts";
import {
  findNextBulkReprocessingId,
  hasUnfinishedReprocessing,
  listNextTillsToReprocess,
  lockTillsToReprocess,
  recordReprocessing,
  tryLockBulkReprocessingRow,
} from "./queries/reprocessings.ts";
import { findRevisionReasons, type TillRevisionAuthor } from "./queries/till-versions.ts";
import {
  countTillsNotOverdueForReport,
  findTillLocationId,
  groupByLocation,
  lockTillRow,
  type TillRow,
} from "./queries/tills.ts";
import { createTillNotFoundError, ignoreMissingLocation } from "./resolve-till-location.ts";
import { createNextTillRevision } from "./till-revisions.ts";

interface TillReprocessing {
  id: string;
  locationId: string | null;
  author: TillRevisionAuthor;
  audit: AuditSource;
  context: ObservabilityContext;
  /** Null if the request does not count, because it is an operator's. */
  quotas: Pick<ReturnType<TillIngestServiceContext["quotasOf"]>, "revisions" | "orders"> | null;
}

/**
 * Creates the revision that computes a till's report again, in the current time zone of its location, and returns the
 * till. Creates none while an earlier reprocessing in this time zone is pending and not overdue. @throws `ApiError`
 * till_not_found; quota_exceeded; service_unavailable when accounts is unavailable.
 */
export async function requestTillReprocessing(
  { db, locations, requeueAfterSeconds }: Pick<TillIngestServiceContext, "db" | "locations" | "requeueAfterSeconds">,
  { id, locationId, author, audit, context, quotas }: TillReprocessing,
): Promise<TillRow> {
  const tillLocationId = locationId ?? (await findTillLocationId(db, id));
  if (tillLocationId === undefined) throw createTillNotFoundError(id);
  const location = await ignoreMissingLocation(locations.getById(tillLocationId, context));
  const timeZone = location?.timeZone;
  return db.transaction(async (tx) => {
    const till = await lockTillRow(tx, { locationId: tillLocationId, id });
    if (!till) throw createTillNotFoundError(id);
    if (await isBeingReprocessed(tx, { till, timeZone })) return till;
    if (quotas)
      await consumeDailyQuotasOrThrow(tx, till.locationId, [
        { quota: quotas.revisions, amount: 1 },
        { quota: quotas.orders, amount: till.orderCount },
      ]);
    await publishAuditEvent(tx, audit, {
      ...{ action: "till.reprocessed", locationId: till.locationId, target: { type: "till", id: till.id } },
    });
    const { traceparent } = context;
    const revision = { reason: "reprocess", timeZone, requeueAfterSeconds, author, traceparent } as const;
    return createNextTillRevision(tx, till, revision);
  });
}

/** Returns whether a reprocessing in this time zone waits for its report. An overdue one may be lost, and does not. */
async function isBeingReprocessed(
  tx: SqlTransaction,
  { till, timeZone = till.timeZone }: { till: TillRow; timeZone: string | undefined },
): Promise<boolean> {
  if (till.timeZone !== timeZone) return false;
  const isPending = till.nextRequeueAt !== null && till.nextRequeueAt > new Date() && till.requeueCount === 0;
  if (!isPending) return false;
  const tills = { locationId: till.locationId, tillIds: [till.id] };
  return (await findRevisionReasons(tx, tills)).get(till.id) === "reprocess";
}

/** Maximum number of tills per transaction. Replacements, erasures and results of these tills wait for its end. */
const batchSize = 100;
/** Queuing pauses while this number of tills wait for reports, so that newly pushed tills do not wait too long. */
const maxPendingTills = 1_000;

/** Milliseconds between two polls while a reprocessing is unfinished, which another instance may not continue. */
const pollMs = 1_000;
/** Polls find reprocessings whose notification was lost, because their process died or NATS was unavailable. */
const idlePollMs = 10_000;

type ReprocessingServices = Pick<TillIngestServiceContext, "db" | "locations" | "log" | "requeueAfterSeconds">;

/**
 * Starts the loop that queues the tills of reprocessings in batches, always of the one with the least progress. Stores
 * progress in the transaction that queues the batch, so that a crash neither loses nor repeats one.
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
    processItem: (id) => runWithObservabilityContext({}, (context) => reprocessBatch(services, { id, context })),
    concurrency: 1,
    ...{ pollMs, idlePollMs },
    hasItems: () => hasUnfinishedReprocessing(db.sql),
  });
}

async function reprocessBatch(
  { db, locations, log, requeueAfterSeconds }: ReprocessingServices,
  { id, context }: { id: string; context: ObservabilityContext },
): Promise<void> {
  await db.transaction(async (tx) => {
    const reprocessing = await tryLockBulkReprocessingRow(tx, id);
    if (!reprocessing) return;
    const { tills: keys, partition } = await listNextTillsToReprocess(tx, reprocessing, batchSize);
    const tillsByLocation = [...groupByLocation(keys)];
    // Before any till is locked, because a request can take seconds.
    const timeZones = new Map<string, string | undefined>();
    for (const [locationId] of tillsByLocation) {
      const location = await ignoreMissingLocation(locations.getById(locationId, context));
      timeZones.set(locationId, location?.timeZone);
    }
    const { traceparent } = context;
    for (const [locationId, tills] of tillsByLocation) {
      const timeZone = timeZones.get(locationId);
      const ids = tills.map(({ id }) => id);
      for (const till of await lockTillsToReprocess(tx, reprocessing, { locationId, ids })) {
        if (await isBeingReprocessed(tx, { till, timeZone })) continue;
        const revision = {
          reason: "reprocess",
          timeZone,
          requeueAfterSeconds,
          author: reprocessing,
          traceparent,
        } as const;
        await createNextTillRevision(tx, till, revision);
      }
    }
    await recordReprocessing(tx, reprocessing, { count: keys.length, last: keys.at(-1), partition });
    if (keys.length === 0)
      log.info({ reprocessing: reprocessing.id, tills: reprocessing.requeuedCount }, "reprocessing finished");
  });
}

export const removeOldReprocessingsTask: PeriodicTask<Pick<TillIngestServiceContext, "db">> = {
  name: "remove old reprocessings",
  intervalSeconds: 3_600,
  run: ({ db: { sql } }) =>
    deleteRowsInBatches(sql, "till_reprocessings", sql`finished_at < now() - interval '30 days'`),
};

/** Replies how many tills of a location were computed in another time zone, and change when they are reprocessed. */
export const otherTimeZoneTillsHandler: BusRequestHandler<Pick<TillIngestServiceContext, "db">> = {
  topic: otherTimeZoneTillsTopic,
  async handle({ db }, text) {
    const { locationId, timeZone } = otherTimeZoneTillsRequestSchema.parse(JSON.parse(text));
    const [counted] = await db.sql<[{ count: number }]>`
      select count(*)::int as count from tills
      where location_id = ${locationId} and time_zone <> ${timeZone} and not is_training`;
    return JSON.stringify(counted);
  },
};
