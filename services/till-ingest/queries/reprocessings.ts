import {
  acquireTransactionAdvisoryLock,
  type Database,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { type TillRow, tillColumns } from "./tills.ts";

/** A request to reprocess many tills, with its progress. */
export interface TillReprocessingRow {
  id: string;
  locationId: string | null;
  lteReportVersion: number;
  keyId: string;
  consumer: string;
  total: number;
  requeuedCount: number;
  /** The last requeued till; null before the first batch. */
  lastTillId: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

const reprocessingColumns = (sql: SqlClient | SqlTransaction) => sql`
  id, location_id, lte_report_version, key_id, consumer, total, requeued_count, last_till_id, created_at, finished_at`;

type NewReprocessing = Pick<TillReprocessingRow, "id" | "locationId" | "lteReportVersion" | "keyId" | "consumer">;

/**
 * Returns the unfinished reprocessing of a location if it includes all tills of the new one. Otherwise marks it as
 * finished, and inserts and returns the new one. A location therefore has at most one unfinished reprocessing.
 */
export async function findOrInsertReprocessing(
  tx: SqlTransaction,
  db: Database,
  row: NewReprocessing,
): Promise<TillReprocessingRow> {
  await acquireTransactionAdvisoryLock(tx, db, `reprocessing of ${row.locationId}`);
  const [unfinished] = await tx<TillReprocessingRow[]>`
    select ${reprocessingColumns(tx)} from till_reprocessings
    where finished_at is null and location_id is not distinct from ${row.locationId}
    order by lte_report_version desc limit 1`;
  if (unfinished && unfinished.lteReportVersion >= row.lteReportVersion) return unfinished;
  await tx`
    update till_reprocessings set finished_at = now()
    where finished_at is null and location_id is not distinct from ${row.locationId}`;
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*)::int as total from tills where ${isTillToReprocess(tx, row)}`;
  const [inserted] = await tx<[TillReprocessingRow]>`
    insert into till_reprocessings ${tx({ ...row, total })} returning ${reprocessingColumns(tx)}`;
  return inserted;
}

export async function findReprocessing(sql: SqlClient, id: string): Promise<TillReprocessingRow | undefined> {
  const [row] = await sql<TillReprocessingRow[]>`
    select ${reprocessingColumns(sql)} from till_reprocessings where id = ${id}`;
  return row;
}

/** Returns the id of the unfinished reprocessing with the least progress, unless another instance has locked it. */
export async function findUnfinishedReprocessing(sql: SqlClient): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from till_reprocessings where finished_at is null
    order by requeued_count, created_at limit 1 for update skip locked`;
  return rows.map(({ id }) => id);
}

/** Locks an unfinished reprocessing and returns it; undefined if it is finished, or locked by another instance. */
export async function lockTillReprocessing(tx: SqlTransaction, id: string): Promise<TillReprocessingRow | undefined> {
  const [row] = await tx<TillReprocessingRow[]>`
    select ${reprocessingColumns(tx)} from till_reprocessings
    where id = ${id} and finished_at is null for update skip locked`;
  return row;
}

/** Locks and returns the next tills of a reprocessing, sorted by id. */
export async function lockNextTillsToReprocess(
  tx: SqlTransaction,
  row: TillReprocessingRow,
  limit: number,
): Promise<TillRow[]> {
  return tx<TillRow[]>`
    select ${tillColumns(tx)} from tills
    where ${isTillToReprocess(tx, row)} ${row.lastTillId === null ? tx`` : tx`and id > ${row.lastTillId}`}
    order by id limit ${limit} for update`;
}

/** Updates the progress of a reprocessing. If there is no last till, marks it as finished. */
export async function recordReprocessingProgress(
  tx: SqlTransaction,
  { id }: TillReprocessingRow,
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
  { locationId, lteReportVersion }: Pick<TillReprocessingRow, "locationId" | "lteReportVersion">,
) {
  return tx`
    coalesce(report_version, 0) <= ${lteReportVersion} and not is_training
    ${locationId === null ? tx`` : tx`and location_id = ${locationId}`}`;
}
