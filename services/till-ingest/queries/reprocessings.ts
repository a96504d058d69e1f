import type { BulkTillReprocessingStatus } from "@pragma/contracts/till";
import {
  type Database,
  lockInTransaction,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { listTillPartitionSuffixes, sumOverTillPartitions, type TillKey, type TillRow, tillColumns } from "./tills.ts";

export interface BulkTillReprocessingRow {
  id: string;
  locationId: string | null;
  lteReportVersion: number;
  /** Only tills that were computed in another time zone than this one are included; null includes all. */
  timeZone: string | null;
  keyId: string;
  consumer: string;
  requeuedCount: number;
  /** The id of the last till that was requeued; null before the first batch. */
  lastTillId: string | null;
  /** If the reprocessing includes all locations, the location of the last till that was requeued. */
  lastLocationId: string | null;
  /** If the reprocessing includes all locations, the suffix of the partition of that till. */
  lastPartition: string | null;
}

/** A reprocessing as the API returns it. */
export type ReprocessingStatusRow = Omit<BulkTillReprocessingStatus, "createdAt" | "finishedAt"> & {
  createdAt: Date;
  finishedAt: Date | null;
};

export const reprocessingStatusColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, location_id, lte_report_version, time_zone is not null as only_other_time_zone, total, requeued_count as done,
  created_at, finished_at`;

/**
 * Inserts a reprocessing and returns it, or returns the location's unfinished one that includes all its tills. Any
 * other unfinished one ends. Those after a change of the time zone are separate, because another one may have
 * reprocessed tills before the change.
 */
export async function insertReprocessing(
  tx: SqlTransaction,
  db: Database,
  row: Pick<BulkTillReprocessingRow, "id" | "locationId" | "lteReportVersion" | "timeZone" | "keyId" | "consumer">,
): Promise<ReprocessingStatusRow> {
  await lockInTransaction(tx, db, `reprocessing of ${row.locationId}`);
  const isUnfinished = tx`
    finished_at is null and location_id is not distinct from ${row.locationId}
    and time_zone is ${row.timeZone === null ? tx`` : tx`not`} null`;
  const [unfinished] = await tx<ReprocessingStatusRow[]>`
    select ${reprocessingStatusColumns(tx)} from till_reprocessings
    where ${isUnfinished} and lte_report_version >= ${row.lteReportVersion}
      and time_zone is not distinct from ${row.timeZone}
    order by lte_report_version desc limit 1`;
  if (unfinished) return unfinished;
  await tx`update till_reprocessings set finished_at = now() where ${isUnfinished}`;
  const total = await countTillsToReprocess(tx, row);
  const [inserted] = await tx<[ReprocessingStatusRow]>`
    insert into till_reprocessings ${tx({ ...row, total })} returning ${reprocessingStatusColumns(tx)}`;
  return inserted;
}

/** Returns a list with the id of the unlocked reprocessing with the least progress; empty if all are finished. */
export async function findNextBulkReprocessingId(sql: SqlClient): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from till_reprocessings where finished_at is null
    order by requeued_count, created_at limit 1 for update skip locked`;
  return rows.map(({ id }) => id);
}

export async function hasUnfinishedReprocessing(sql: SqlClient): Promise<boolean> {
  const [unfinished] = await sql`select from till_reprocessings where finished_at is null limit 1`;
  return unfinished !== undefined;
}

/** Locks an unfinished reprocessing and returns it; undefined if it is finished, or locked by another instance. */
export async function tryLockBulkReprocessingRow(
  tx: SqlTransaction,
  id: string,
): Promise<BulkTillReprocessingRow | undefined> {
  const [row] = await tx<BulkTillReprocessingRow[]>`
    select id, location_id, lte_report_version, time_zone, key_id, consumer, requeued_count, last_till_id,
      last_location_id, last_partition
    from till_reprocessings where id = ${id} and finished_at is null for update skip locked`;
  return row;
}

async function countTillsToReprocess(tx: SqlTransaction, row: ReprocessingSelection): Promise<number> {
  const count = async (suffix: string): Promise<number> => {
    const [result] = await tx<[{ total: number }]>`
      select count(*)::int as total from ${tx(`tills${suffix}`)} where ${isTillToReprocess(tx, row)}`;
    return result.total;
  };
  return row.locationId === null ? sumOverTillPartitions(tx, count) : count("");
}

/**
 * Returns the next tills of a reprocessing, sorted by id, or by partition, location and id if it includes all
 * locations. `partition` is the suffix of their partition; null for those of one location.
 */
export async function listNextTillsToReprocess(
  tx: SqlTransaction,
  row: BulkTillReprocessingRow,
  limit: number,
): Promise<{ tills: TillKey[]; partition: string | null }> {
  if (row.locationId !== null) {
    const tills = await tx<TillKey[]>`
      select location_id, id from tills
      where ${isTillToReprocess(tx, row)} ${row.lastTillId === null ? tx`` : tx`and id > ${row.lastTillId}`}
      order by id limit ${limit}`;
    return { tills, partition: null };
  }
  const { lastPartition, lastLocationId, lastTillId } = row;
  const partitions = await listTillPartitionSuffixes(tx);
  for (const partition of partitions.filter((name) => lastPartition === null || name >= lastPartition)) {
    const isContinued = partition === lastPartition;
    const tills = await tx<TillKey[]>`
      select location_id, id from ${tx(`tills${partition}`)}
      where ${isTillToReprocess(tx, row)}
        ${isContinued ? tx`and (location_id, id) > (${lastLocationId}, ${lastTillId})` : tx``}
      order by location_id, id limit ${limit}`;
    if (tills.length > 0) return { tills, partition };
  }
  return { tills: [], partition: null };
}

/** Locks and returns these tills of a location, except those that no longer belong to the reprocessing. */
export async function lockTillsToReprocess(
  tx: SqlTransaction,
  { lteReportVersion, timeZone }: BulkTillReprocessingRow,
  { locationId, ids }: { locationId: string; ids: string[] },
): Promise<TillRow[]> {
  return tx<TillRow[]>`
    select ${tillColumns(tx)} from tills
    where ${isTillToReprocess(tx, { locationId, lteReportVersion, timeZone })} and id = any(${ids}::uuid[])
    order by id for update`;
}

/** Updates the progress of a reprocessing. If `last` is undefined, marks the reprocessing as finished. */
export async function recordReprocessing(
  tx: SqlTransaction,
  { id }: BulkTillReprocessingRow,
  { count, last, partition }: { count: number; last: TillKey | undefined; partition: string | null },
): Promise<void> {
  if (!last) {
    await tx`update till_reprocessings set finished_at = now() where id = ${id}`;
    return;
  }
  await tx`
    update till_reprocessings set
      requeued_count = requeued_count + ${count}, last_till_id = ${last.id}, last_location_id = ${last.locationId},
      last_partition = ${partition}
    where id = ${id}`;
}

type ReprocessingSelection = Pick<BulkTillReprocessingRow, "locationId" | "lteReportVersion" | "timeZone">;

/** Returns the SQL condition for the tills of a reprocessing. Excludes training tills, which have no report. */
function isTillToReprocess(tx: SqlTransaction, { locationId, lteReportVersion, timeZone }: ReprocessingSelection) {
  return tx`
    coalesce(report_version, 0) <= ${lteReportVersion} and not is_training
    ${locationId === null ? tx`` : tx`and location_id = ${locationId}`}
    ${timeZone === null ? tx`` : tx`and time_zone <> ${timeZone}`}`;
}
