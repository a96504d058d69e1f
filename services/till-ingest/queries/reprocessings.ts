import { type Database, lockUntilCommit, type SqlClient, type SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillRow } from "./tills.ts";

/** An order to process many tills again. */
export interface ReprocessingRow {
  id: string;
  locationId: string | null;
  lteReportVersion: number;
  keyId: string;
  consumer: string;
  total: number;
  done: number;
  place: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

type NewReprocessing = Pick<ReprocessingRow, "id" | "locationId" | "lteReportVersion" | "keyId" | "consumer">;

/**
 * Returns the order of a location to process its tills again: the one that is not finished when it means these tills,
 * too, and else a new one in its place. So a location has one at a time, however often it asks.
 */
export async function findOrInsertReprocessing(
  tx: SqlTransaction,
  db: Database,
  row: NewReprocessing,
): Promise<ReprocessingRow> {
  await lockUntilCommit(tx, db, `reprocessing of ${row.locationId}`);
  const [unfinished] = await tx<ReprocessingRow[]>`
    select * from reprocessings
    where finished_at is null and location_id is not distinct from ${row.locationId}
    order by lte_report_version desc limit 1`;
  if (unfinished && unfinished.lteReportVersion >= row.lteReportVersion) return unfinished;
  await tx`
    update reprocessings set finished_at = now()
    where finished_at is null and location_id is not distinct from ${row.locationId}`;
  const [{ total }] = await tx<[{ total: number }]>`
    select count(*)::int as total from tills where ${isTillToReprocess(tx, row)}`;
  const [inserted] = await tx<[ReprocessingRow]>`insert into reprocessings ${tx({ ...row, total })} returning *`;
  return inserted;
}

export async function findReprocessing(sql: SqlClient, id: string): Promise<ReprocessingRow | undefined> {
  const [row] = await sql<ReprocessingRow[]>`select * from reprocessings where id = ${id}`;
  return row;
}

/** The one that is not finished and has come least far; none when there is none, or other instances are at them. */
export async function findUnfinishedReprocessing(sql: SqlClient): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from reprocessings where finished_at is null order by done, created_at limit 1 for update skip locked`;
  return rows.map(({ id }) => id);
}

/** The one of this id, locked; undefined when it is finished, or another instance is at it. */
export async function lockReprocessing(tx: SqlTransaction, id: string): Promise<ReprocessingRow | undefined> {
  const [row] = await tx<ReprocessingRow[]>`
    select * from reprocessings where id = ${id} and finished_at is null for update skip locked`;
  return row;
}

/** The next tills that are meant, after the place that it came to, locked. */
export async function lockNextTills(tx: SqlTransaction, row: ReprocessingRow, limit: number): Promise<TillRow[]> {
  return tx<TillRow[]>`
    select * from tills
    where ${isTillToReprocess(tx, row)} ${row.place === null ? tx`` : tx`and id > ${row.place}`}
    order by id limit ${limit} for update`;
}

/** Notes how far it came; without a place it is finished. */
export async function recordReprocessingProgress(
  tx: SqlTransaction,
  { id }: ReprocessingRow,
  { count, place }: { count: number; place: string | undefined },
): Promise<void> {
  await tx`
    update reprocessings set
      done = done + ${count}, place = coalesce(${place ?? null}, place),
      finished_at = ${place === undefined ? tx`now()` : tx`null`}
    where id = ${id}`;
}

/** Training tills have no report to make again. */
function isTillToReprocess(
  tx: SqlTransaction,
  { locationId, lteReportVersion }: Pick<ReprocessingRow, "locationId" | "lteReportVersion">,
) {
  return tx`
    coalesce(report_version, 0) <= ${lteReportVersion} and not is_training
    ${locationId === null ? tx`` : tx`and location_id = ${locationId}`}`;
}
