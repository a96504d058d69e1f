import { ApiError } from "@pragma/contracts/errors";
import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { acquireTransactionAdvisoryLock } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { isCanceledStatementError, isTransient } from "@pragma/runtime/retries/transient-error";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingServiceContext } from "../context.ts";
import { readStoredTill } from "../metrics/read-stored-till.ts";
import { findNextLocationWithoutMetrics, markMetricsComputed, replaceTillMetrics } from "../queries/metrics.ts";
import type { TillKey } from "../queries/tills.ts";

const intervalSeconds = 10;
/** The rest of the interval is left to requests. */
const maxRunMs = 4_000;
/** Tills of a location before those of the next location. */
const tillsPerLocation = 5;

/** When tills whose metrics could not be computed are tried again, by their ids, in the milliseconds of `Date.now`. */
const retryAtMs = new Map<string, number>();
const retryAfterMs = 24 * 3_600_000;
/** The task stops while it skips as many tills, because something else is then probably wrong. */
const maxSkippedTills = 1_000;

let computedCount = 0;

/** Returns for how many tills this process has computed missing metrics. */
export const countComputedMissingMetrics = (): number => computedCount;

/** Where the next run continues. */
const lowestId = "00000000-0000-0000-0000-000000000000";
let position = { partition: 0, afterId: lowestId };

type Services = Pick<ReportingServiceContext, "db" | "objects" | "log" | "locations" | "metricsWorker">;

/**
 * Computes the metrics of reports that were stored by an earlier version. A few tills of each location are computed in
 * turn, the latest first. A till whose metrics cannot be computed is tried again a day later.
 */
export const computeMissingMetricsTask: PeriodicTask<Services> = {
  name: "compute missing metrics",
  intervalSeconds,
  async run(services, context) {
    if (context) await computeMissing(services, context);
    else await runWithObservabilityContext({}, (ownContext) => computeMissing(services, ownContext));
  },
};

async function computeMissing(services: Services, context: ObservabilityContext): Promise<void> {
  const { db, log } = services;
  const startedMs = performance.now();
  const isOver = () => performance.now() - startedMs > maxRunMs || retryAtMs.size >= maxSkippedTills;
  for (const [tillId, retryMs] of retryAtMs) if (retryMs <= Date.now()) retryAtMs.delete(tillId);
  const partitions = await listPartitionNames(db.sql, "reports");
  let computed = 0;
  // Ends when the rest of the partition in which the last run ended, and all partitions, have no further till.
  for (let finishedPartitions = 0; finishedPartitions <= partitions.length && !isOver(); ) {
    const partition = partitions[position.partition % partitions.length] ?? "reports";
    const next = await findNextLocationWithoutMetrics(db.sql, partition, {
      ...{ afterId: position.afterId, skippedTillIds: [...retryAtMs.keys()], limit: tillsPerLocation },
    });
    if (!next) {
      finishedPartitions += 1;
      position = { partition: (position.partition + 1) % partitions.length, afterId: lowestId };
      continue;
    }
    const { locationId, tillIds } = next;
    position = { ...position, afterId: locationId };
    if (tillIds.length === 0) continue;
    const timeZone = await findTimeZone(services, locationId, context);
    for (const tillId of tillIds) {
      if (isOver()) break;
      if (timeZone === null) skipTill(services, tillId);
      else if (await computeTillOrSkip(services, { locationId, tillId, timeZone })) {
        computed += 1;
        computedCount += 1;
        finishedPartitions = 0;
      }
    }
  }
  const durationMs = Math.round(performance.now() - startedMs);
  if (computed > 0) log.info({ tills: computed, durationMs }, "computed missing metrics");
}

function skipTill({ log }: Services, tillId: string): void {
  retryAtMs.set(tillId, Date.now() + retryAfterMs);
  if (retryAtMs.size === maxSkippedTills)
    log.error({ tills: maxSkippedTills }, "no more missing metrics are computed, because too many tills failed");
}

/** Returns the time zone of a location; null if it does not exist. @throws `ApiError` when accounts is unavailable. */
async function findTimeZone(
  { locations, log }: Services,
  locationId: string,
  context: ObservabilityContext,
): Promise<string | null> {
  try {
    return (await locations.getById(locationId, context)).timeZone;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "location_not_found")) throw error;
    log.error({ locationId }, "the metrics of a location that does not exist cannot be computed");
    return null;
  }
}

/** Returns whether the metrics of a till were stored. @throws Error if the database or object store is unavailable. */
async function computeTillOrSkip(services: Services, till: TillKey & { timeZone: string }): Promise<boolean> {
  const { locationId, tillId } = till;
  try {
    return await computeTill(services, till);
  } catch (error) {
    if (isTransient(error) && !isCanceledStatementError(error)) throw error;
    skipTill(services, tillId);
    services.log.error({ err: error, locationId, tillId }, "the metrics of a till could not be computed");
    return false;
  }
}

async function computeTill(
  services: Services,
  { locationId, tillId, timeZone }: TillKey & { timeZone: string },
): Promise<boolean> {
  const { db, metricsWorker } = services;
  const stored = await readStoredTill(services, { locationId, tillId });
  if (!stored) return false;
  const { day, etag, ...documents } = stored;
  const metrics = await metricsWorker.run({ ...documents, timeZone });
  if (!metrics) throw new Error("A sum of the till is too large.");
  return db.transaction(async (tx) => {
    await acquireTransactionAdvisoryLock(tx, db, `location ${locationId}`);
    if (!(await markMetricsComputed(tx, { locationId, tillId, etag }))) return false;
    await Promise.all([
      replaceTillMetrics(tx, { locationId, tillId, previousDay: day, day, metrics }),
      recordLocationWrite(tx, locationId),
    ]);
    return true;
  });
}
