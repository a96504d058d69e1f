import {
  acquireTransactionAdvisoryLock,
  type Database,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { type TillRow, tillColumns } from "./tills.ts";

/** A request to reprocess many tills, with its progress. */
export interface BulkTillReprocessingRow {
  id: string;
  locationId: string | null;
  lteReportVersion: number;
  keyId: string;
  consumer: string;
  total: number;
  requeuedCount: number;
  /** The id of the last till that was requeued; null before the first batch. */
  lastTillId: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

const reprocessingColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, location_id, lte_report_version, key_id, consumer, total, requeued_count, last_till_id, created_at, finished_at`;

type NewReprocessing = Pick<BulkTillReprocessingRow, "id" | "locationId" | "lteReportVersion" | "keyId" | "consumer">;

/**
 * Inserts a reprocessing and returns it. If the location has an unfinished reprocessing that includes all tills of the
 * new reprocessing, returns the unfinished one instead. Otherwise, the unfinished one is marked as finished, so that a
 * location has at most one unfinished reprocessing.
 */
export async function findOrInsertBulkTillReprocessing(
  tx: SqlTransaction,
  db: Database,
  row: NewReprocessing,
): Promise<BulkTillReprocessingRow> {
  await acquireTransactionAdvisoryLock(tx, db, `reprocessing of ${row.locationId}`);
  const [unfinished] = await tx<BulkTillReprocessingRow[]>`
    select ${reprocessingColumns(tx)} from till_reprocessings
    where finished_at is null and location_id is not distinct from ${row.locationId}
    order by lte_report_version desc limit 1`;
  if (unfinished && unfinished.lteReportVersion >= row.lteReportVersion) return unfinished;
  await tx`
    update till_reprocessings set finished_at = now()
    where finished_at is null and location_id is not distinct from ${row.locationId}`;
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*)::int as total from tills where ${isTillToReprocess(tx, row)}`;
  const [inserted] = await tx<[BulkTillReprocessingRow]>`
    insert into till_reprocessings ${tx({ ...row, total })} returning ${reprocessingColumns(tx)}`;
  return inserted;
}

export async function findBulkTillReprocessing(
  sql: SqlClient,
  id: string,
): Promise<BulkTillReprocessingRow | undefined> {
  const [row] = await sql<BulkTillReprocessingRow[]>`
    select ${reprocessingColumns(sql)} from till_reprocessings where id = ${id}`;
  return row;
}

/**
 * Returns a list with one id: that of the reprocessing with the least progress, among the unfinished reprocessings that
 * no other instance has locked. The list is empty if there is none.
 */
export async function findNextBulkReprocessingId(sql: SqlClient): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from till_reprocessings where finished_at is null
    order by requeued_count, created_at limit 1 for update skip locked`;
  return rows.map(({ id }) => id);
}

/** Locks an unfinished reprocessing and returns it; undefined if it is finished, or locked by another instance. */
export async function tryLockBulkReprocessingRow(
  tx: SqlTransaction,
  id: string,
): Promise<BulkTillReprocessingRow | undefined> {
  const [row] = await tx<BulkTillReprocessingRow[]>`
    select ${reprocessingColumns(tx)} from till_reprocessings
    where id = ${id} and finished_at is null for update skip locked`;
  return row;
}

/** Locks and returns the next tills of a reprocessing, sorted by id. */
export async function lockNextTillsToReprocess(
  tx: SqlTransaction,
  row: BulkTillReprocessingRow,
  limit: number,
): Promise<TillRow[]> {
  return tx<TillRow[]>`
    select ${tillColumns(tx)} from tills
    where ${isTillToReprocess(tx, row)} ${row.lastTillId === null ? tx`` : tx`and id > ${row.lastTillId}`}
    order by id limit ${limit} for update`;
}

/** Updates the progress of a reprocessing. If `lastTillId` is undefined, marks the reprocessing as finished. */
export async function recordBulkReprocessingProgress(
  tx: SqlTransaction,
  { id }: BulkTillReprocessingRow,
  { count, lastTillId }: { count: number; lastTillId: string | undefined },
): Promise<void> {
  await tx`
    update till_reprocessings set
      requeued_count = requeued_count + ${count}, last_till_id = coalesce(${lastTillId ?? null}, last_till_id),
      finished_at = ${lastTillId === undefined ? tx`now()` : tx`null`}
    where id = ${id}`;
}

/** Returns the SQL condition for the tills of a reprocessing. Excludes training tills, which have no report. */
function isTillToReprocess(
  tx: SqlTransaction,
  { locationId, lteReportVersion }: Pick<BulkTillReprocessingRow, "locationId" | "lteReportVersion">,
) {
  return tx`
    coalesce(report_version, 0) <= ${lteReportVersion} and not is_training
    ${locationId === null ? tx`` : tx`and location_id = ${locationId}`}`;
}
