import { listPartitionNames } from "@pragma/runtime/database/partitions";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { recordLocationWrite } from "@pragma/runtime/database/read-replica";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "../../context.ts";
import { mergeMetricColumns } from "../metric-cells.ts";
import {
  findVersionOfUnchangedMonth,
  listMonthsToMerge,
  type MetricMonth,
  readMetricCellsOfMonth,
} from "../queries/metrics.ts";

/** A month with more cells of all kinds is not merged, because reading its tills is then not much slower. */
const maxCellsOfMonth = 20_000;

const intervalSeconds = 300;
/** The rest of the interval is left to requests. */
const maxRunMs = 30_000;
/** Finding the months reads the keys of all tills. After the last partition, the task waits before it begins again. */
const roundIntervalMs = 3_600_000;

/** When months that are not merged now are tried again, by location and month, in the milliseconds of `Date.now`. */
const retryAtMs = new Map<string, number>();
const retryAfterMs = 6 * 3_600_000;
const maxSkippedMonths = 100_000;

/** The partition in which the next run continues, and when it may begin with the first one again. */
let partitionNumber = 0;
let nextRoundAtMs = 0;

type Services = Pick<ReportingContext, "db" | "log">;

/**
 * Merges the metrics of the tills of each month that ended at least two days ago, and of whose reports none changed in the
 * last 24 hours. A later change of a report deletes them.
 */
export const mergeMetricMonthsTask: PeriodicTask<Services> = {
  name: "merge metric months",
  intervalSeconds,
  async run(services) {
    if (partitionNumber === 0 && Date.now() < nextRoundAtMs) return;
    await mergeMetricMonths(services);
  },
};

/** Merges months for at most `maxRunMs`, and continues where the last call ended. `nowMs` is in the form of `Date.now`. */
export async function mergeMetricMonths(services: Services, { nowMs = Date.now() } = {}): Promise<void> {
  const { db, log } = services;
  const startedMs = performance.now();
  const isOver = () => performance.now() - startedMs > maxRunMs;
  for (const [key, retryMs] of retryAtMs) if (retryMs <= nowMs) retryAtMs.delete(key);
  const partitions = await listPartitionNames(db.sql, "metric_totals");
  // These have the same locations, in the same sequence.
  const monthPartitions = await listPartitionNames(db.sql, "metric_months");
  let merged = 0;
  for (let partition = partitions[partitionNumber]; partition && !isOver(); partition = partitions[partitionNumber]) {
    const names = { totals: partition, months: monthPartitions[partitionNumber] ?? "metric_months" };
    for (const month of await listMonthsToMerge(db.sql, names, { beforeMonth: findFirstOpenMonth(nowMs) })) {
      if (isOver()) break;
      const key = `${month.locationId} ${month.month}`;
      if (retryAtMs.has(key)) continue;
      if (await mergeMonth(services, month)) merged += 1;
      else if (retryAtMs.size < maxSkippedMonths) retryAtMs.set(key, nowMs + retryAfterMs);
    }
    if (!isOver()) partitionNumber += 1;
  }
  if (partitionNumber >= partitions.length) {
    partitionNumber = 0;
    nextRoundAtMs = nowMs + roundIntervalMs;
  }
  const durationMs = Math.round(performance.now() - startedMs);
  if (merged > 0) log.info({ months: merged, durationMs }, "merged the metrics of months");
}

/** Returns the first day of the month that has not ended, or ended less than two days ago, in UTC. */
function findFirstOpenMonth(nowMs: number): string {
  const date = new Date(nowMs);
  date.setUTCDate(date.getUTCDate() - 2);
  return `${date.toISOString().slice(0, 7)}-01`;
}

/** Returns whether the metrics of a month were stored. They are computed before the location is locked. */
async function mergeMonth({ db }: Services, month: MetricMonth): Promise<boolean> {
  const { locationId } = month;
  const version = await findVersionOfUnchangedMonth(db.sql, month);
  if (version === null) return false;
  const cells = await mergeMetricColumns(readMetricCellsOfMonth(db.sql, month), { maxCells: maxCellsOfMonth });
  if (!cells) return false;
  return db.transaction(async (tx) => {
    await lockInTransaction(tx, db, `location ${locationId}`);
    if ((await findVersionOfUnchangedMonth(tx, month)) !== version) return false;
    const row = JSON.stringify({ location_id: locationId, month: month.month, ...cells });
    await tx`
      insert into metric_months
      select * from jsonb_populate_record(null::metric_months, ${row}::text::jsonb)
      on conflict do nothing`;
    await recordLocationWrite(tx, locationId);
    return true;
  });
}
