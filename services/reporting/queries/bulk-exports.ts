import type {
  BulkExportFailure,
  BulkExportFormat,
  BulkExportState,
  CreateBulkExportRequest,
} from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import {
  acquireTransactionAdvisoryLock,
  type Database,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { isRemovedLocationError } from "@pragma/runtime/retries/transient-error";
import type { TillKey } from "./tills.ts";

export interface BulkExportKey {
  locationId: string;
  id: string;
}

export interface BulkExportRow extends BulkExportKey {
  data: BulkExportData;
  format: BulkExportFormat;
  /** YYYY-MM-DD. */
  since: string;
  until: string;
  state: BulkExportState;
  currencyCode: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  expiresAt: Date | null;
  progressDays: number;
  progressRows: number;
  /** The number of reports whose rows are in complete files. */
  reports: number;
  /** JSON of `BulkExportFailure`. */
  failure: string | null;
}

export interface BulkExportFileRow {
  number: number;
  name: string;
  objectKey: string;
  bytes: number;
  rows: number;
  sha256: string;
  /** JSON: the sum of each summed column. */
  sums: string;
  firstDay: string;
  lastDay: string;
}

/** The columns of `BulkExportRow`. */
export const bulkExportColumnNames = (sql: SqlClient | SqlTransaction) => sql`
  location_id, id, data, format, since::text as since, until::text as until, state, currency_code, created_at, started_at,
  finished_at, expires_at, progress_days, progress_rows, reports, failure`;

const fileColumnNames = (sql: SqlClient | SqlTransaction) => sql`
  number, name, object_key, bytes, rows, sha256, sums, first_day::text as first_day, last_day::text as last_day`;

const isFileOf = (sql: SqlClient | SqlTransaction, { locationId, id }: BulkExportKey) => sql`
  location_id = ${locationId} and export_id = ${id}`;

export const isBulkExport = (sql: SqlClient | SqlTransaction, { locationId, id }: BulkExportKey) => sql`
  location_id = ${locationId} and id = ${id}`;

/** Makes other transactions that create or restart exports of the location wait until the transaction ends. */
export async function lockBulkExports(tx: SqlTransaction, db: Database, locationId: string): Promise<void> {
  await acquireTransactionAdvisoryLock(tx, db, `bulk exports of ${locationId}`);
}

/** Returns the number of unfinished exports of a location, and the total size of the files of all its exports. */
export async function countBulkExports(
  tx: SqlTransaction,
  locationId: string,
): Promise<{ unfinished: number; storedBytes: number }> {
  const [row] = await tx<[{ unfinished: number; storedBytes: number }]>`
    select (
      select count(*) from bulk_exports where location_id = ${locationId} and state in ('queued', 'running')
    ) as unfinished, ${sumFileBytes(tx, locationId)} as stored_bytes`;
  return row;
}

const sumFileBytes = (sql: SqlClient | SqlTransaction, locationId: string) => sql`
  (select coalesce(sum(bytes), 0)::bigint from bulk_export_files where location_id = ${locationId})`;

export async function insertBulkExport(
  tx: SqlTransaction,
  row: BulkExportKey &
    Omit<CreateBulkExportRequest, "locationId"> & { keyId: string; consumer: string; traceparent: string },
): Promise<BulkExportRow> {
  const [inserted] = await tx<[BulkExportRow]>`
    insert into bulk_exports ${tx(row)} returning ${bulkExportColumnNames(tx)}`;
  return inserted;
}

/** Returns an export with the files that are complete; `locationId` null matches any location. */
export async function findBulkExport(
  sql: SqlClient,
  { id, locationId }: { id: string; locationId: string | null },
): Promise<{ row: BulkExportRow; files: BulkExportFileRow[] } | undefined> {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const [row] = await tx<BulkExportRow[]>`
      select ${bulkExportColumnNames(tx)} from bulk_exports
      where id = ${id} and ${locationId === null ? tx`true` : tx`location_id = ${locationId}`}`;
    return row && { row, files: await listBulkExportFiles(tx, row) };
  });
}

async function listBulkExportFiles(sql: SqlClient | SqlTransaction, key: BulkExportKey): Promise<BulkExportFileRow[]> {
  return sql<BulkExportFileRow[]>`
    select ${fileColumnNames(sql)} from bulk_export_files where ${isFileOf(sql, key)} order by number`;
}

/** Returns the total size of the files of all exports of a location. */
export async function findStoredBulkExportBytes(sql: SqlClient, locationId: string): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`select ${sumFileBytes(sql, locationId)} as bytes`;
  return row.bytes;
}

/** Deletes the files of exports. Their objects are deleted from the object store within a minute. */
export async function deleteBulkExportFiles(tx: SqlTransaction, exports: BulkExportKey[]): Promise<void> {
  for (const { locationId, id } of exports) {
    await tx`
      with deleted as (
        delete from bulk_export_files where ${isFileOf(tx, { locationId, id })} returning location_id, object_key
      )
      insert into unused_objects (location_id, object_key, delete_after)
      select location_id, object_key, now() from deleted on conflict do nothing`;
  }
}

/** Deletes an export and its files, also while it runs. Returns false when it does not exist. */
export async function deleteBulkExport(tx: SqlTransaction, key: BulkExportKey): Promise<boolean> {
  const [row] = await tx`select from bulk_exports where ${isBulkExport(tx, key)} for update`;
  if (!row) return false;
  await deleteBulkExportFiles(tx, [key]);
  await tx`delete from bulk_exports where ${isBulkExport(tx, key)}`;
  return true;
}

const erasureFailure: BulkExportFailure = {
  code: "personal_data_erased",
  message:
    "Personal data was erased from a till whose rows the files contained, so the files were removed. Create the export again.",
};

/**
 * Removes the files of finished exports that contain a till whose personal data is erased. Unfinished exports of the
 * till's business day start again, because they may have read the till before.
 */
export async function removeErasedTillFromBulkExports(
  tx: SqlTransaction,
  db: Database,
  { locationId, tillId }: TillKey,
): Promise<void> {
  await lockBulkExports(tx, db, locationId);
  const affected = await tx<(BulkExportKey & { state: BulkExportState })[]>`
    select location_id, id, state from bulk_exports
    where location_id = ${locationId} and (
      (state in ('queued', 'running') and exists (
        select from reports where location_id = ${locationId} and till_id = ${tillId} and day between since and until
      )) or id in (
        select export_id from bulk_export_files where location_id = ${locationId} and ${tillId}::uuid = any(till_ids)
      )
    )
    order by id for update`;
  if (affected.length === 0) return;
  await deleteBulkExportFiles(tx, affected);
  const idsOf = (states: BulkExportState[]) =>
    affected.filter(({ state }) => states.includes(state)).map(({ id }) => id);
  await tx`
    update bulk_exports set state = 'removed', failure = ${JSON.stringify(erasureFailure)}
    where location_id = ${locationId} and id = any(${idsOf(["done", "failed", "removed"])}::uuid[])`;
  await tx`
    update bulk_exports set state = 'queued', claim_number = claim_number + 1, claimed_until = null, done_day = null,
      done_at = null, done_report_id = null, progress_days = 0, progress_rows = 0, reports = 0
    where location_id = ${locationId} and id = any(${idsOf(["queued", "running"])}::uuid[])`;
}

const maxDeletedPerRun = 1_000;

/** Deletes expired exports and their files. */
export async function deleteExpiredBulkExports(db: Database): Promise<void> {
  const expired = await db.sql<BulkExportKey[]>`
    select location_id, id from bulk_exports where expires_at < now() order by expires_at limit ${maxDeletedPerRun}`;
  for (const key of expired) {
    await db
      .transaction((tx) => deleteBulkExport(tx, key))
      .catch((error: unknown) => {
        // The command that removes the location deletes the export.
        if (!isRemovedLocationError(error)) throw error;
      });
  }
}

/** Returns the age in seconds of the oldest unfinished export, and the number of unfinished exports. */
export async function measureUnfinishedBulkExports(
  sql: SqlClient,
): Promise<{ unfinished: number; oldestSeconds: number }> {
  const [row] = await sql<[{ unfinished: number; oldestSeconds: number }]>`
    select count(*) as unfinished, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from bulk_exports where state in ('queued', 'running')`;
  return row;
}

/** Returns the unfinished exports in the format of the operators' route, oldest first. */
export async function listUnfinishedBulkExports(sql: SqlClient, limit: number) {
  return sql`
    select id as export_id, location_id, state, data, format, since::text as since, until::text as until, created_at,
      progress_days, progress_rows, failed_attempts, claimed_until
    from bulk_exports where state in ('queued', 'running') order by created_at limit ${limit}`;
}

/** How far an export is: the rows of this report and of all before it are in complete files. */
export interface BulkExportPosition {
  /** YYYY-MM-DD. */
  day: string;
  /** When the shift began, with microseconds. */
  at: string;
  reportId: string;
}

export interface ReportToExport extends BulkExportPosition {
  tillId: string;
}

/** Returns reports of a range of business days after a position, in the order of files. */
export async function listReportsToExport(
  sql: SqlClient,
  {
    locationId,
    since,
    until,
    after,
    limit,
  }: { locationId: string; since: string; until: string; after: BulkExportPosition | null; limit: number },
): Promise<ReportToExport[]> {
  const isAfter = after
    ? sql`and day >= ${after.day}::text::date and (day, started_at, id)
        > (${after.day}::text::date, ${after.at}::text::timestamptz, ${after.reportId}::uuid)`
    : sql``;
  return sql<ReportToExport[]>`
    select till_id, id as report_id, day::text as day, started_at::text as at from reports
    where location_id = ${locationId} and day between ${since}::text::date and ${until}::text::date ${isAfter}
    order by reports.day, started_at, id limit ${limit}`;
}
