import { type BulkExportFailure, bulkExportKeptDays } from "@pragma/contracts/bulk-export";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { TransientError } from "@pragma/runtime/retries/transient-error";
import {
  type BulkExportFileRow,
  type BulkExportKey,
  type BulkExportPosition,
  type BulkExportRow,
  bulkExportColumnNames,
  deleteBulkExportFiles,
  isBulkExport,
} from "./bulk-exports.ts";
import { keepUploadedObject } from "./unused-objects.ts";

/** The claim (lease) of a process to an export. Only the process with the latest claim can store files. */
export interface BulkExportClaim extends BulkExportKey {
  claimNumber: number;
  failedAttempts: number;
  traceparent: string | null;
}

/** SQL condition for exports that can be claimed. After a failed attempt, `claimed_until` is the time of the retry. */
const isClaimable = (sql: SqlClient) => sql`
  state in ('queued', 'running') and (claimed_until is null or claimed_until < now())`;

const isClaimHeld = (sql: SqlClient | SqlTransaction, claim: BulkExportClaim) => sql`
  ${isBulkExport(sql, claim)} and claim_number = ${claim.claimNumber} and state = 'running'`;

/**
 * Claims up to `limit` exports for `seconds`. Claims one export of a location at a time, the oldest first, so that the
 * exports of one location do not delay those of others. Of several locations, the export that has waited longest since its
 * creation or its last claim is first. An attempt whose claim expired may have crashed the process, and counts as failed.
 */
export async function claimBulkExports(
  sql: SqlClient,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<BulkExportClaim[]> {
  return sql<BulkExportClaim[]>`
    with due as (
      select export.location_id, export.id from bulk_exports export join (
        select distinct on (location_id) location_id, id from bulk_exports
        where state in ('queued', 'running') order by location_id, created_at, id
      ) first_of_location using (location_id, id)
      where ${isClaimable(sql)}
      order by coalesce(claimed_until, created_at) limit ${limit} for update of export skip locked
    )
    update bulk_exports export set
      state = 'running', claim_number = claim_number + 1,
      failed_attempts = failed_attempts + case state when 'running' then 1 else 0 end,
      claimed_until = now() + make_interval(secs => ${seconds}), started_at = coalesce(started_at, now())
    from due where export.location_id = due.location_id and export.id = due.id
    returning export.location_id, export.id, claim_number, failed_attempts, traceparent`;
}

/** Returns whether an export of another location waits for a process. */
export async function isBulkExportOfOtherLocationDue(sql: SqlClient, locationId: string): Promise<boolean> {
  const [row] = await sql<[{ isDue: boolean }]>`
    select exists (
      select from bulk_exports export join (
        select distinct on (location_id) location_id, id from bulk_exports
        where state in ('queued', 'running') order by location_id, created_at, id
      ) first_of_location using (location_id, id)
      where location_id <> ${locationId} and ${isClaimable(sql)}
    ) as is_due`;
  return row.isDue;
}

export interface ClaimedBulkExport extends BulkExportRow {
  position: BulkExportPosition | null;
  files: number;
  fileRows: number;
  /** The tills whose rows are in complete files. */
  tillIds: string[];
}

/** Returns a claimed export. Stores its currency if it has none yet. */
export async function findClaimedBulkExport(
  sql: SqlClient,
  claim: BulkExportClaim,
): Promise<ClaimedBulkExport | undefined> {
  const [row] = await sql<
    (Omit<ClaimedBulkExport, "position"> & {
      doneDay: string | null;
      doneAt: string | null;
      doneReportId: string | null;
    })[]
  >`
    select ${bulkExportColumnNames(sql)}, done_day::text as done_day, done_at::text as done_at, done_report_id,
      files.count as files, files.rows as file_rows, files.till_ids
    from bulk_exports, lateral (
      select count(*), coalesce(sum(rows), 0)::bigint as rows,
        coalesce((
          select array_agg(till_id) from bulk_export_files inner_file, unnest(inner_file.till_ids) as till_id
          where inner_file.location_id = bulk_exports.location_id and inner_file.export_id = bulk_exports.id
        ), '{}') as till_ids
      from bulk_export_files file
      where file.location_id = bulk_exports.location_id and file.export_id = bulk_exports.id
    ) as files
    where ${isClaimHeld(sql, claim)}`;
  if (!row) return undefined;
  const { doneDay, doneAt, doneReportId, ...found } = row;
  const position = doneDay && doneAt && doneReportId ? { day: doneDay, at: doneAt, reportId: doneReportId } : null;
  return { ...found, position };
}

export async function setBulkExportCurrency(
  sql: SqlClient,
  claim: BulkExportClaim,
  currencyCode: string | null,
): Promise<void> {
  await sql`update bulk_exports set currency_code = ${currencyCode} where ${isClaimHeld(sql, claim)}`;
}

/**
 * Extends a claim, and stores the progress for clients. Returns false when another process has claimed the export since,
 * or when it starts again or was deleted.
 */
export async function renewBulkExportClaim(
  sql: SqlClient,
  claim: BulkExportClaim,
  { seconds, days, rows }: { seconds: number; days: number; rows: number },
): Promise<boolean> {
  const renewed = await sql`
    update bulk_exports set claimed_until = now() + make_interval(secs => ${seconds}),
      progress_days = ${days}, progress_rows = ${rows}
    where ${isClaimHeld(sql, claim)}`;
  return renewed.count === 1;
}

/** Releases a claim. Any process can claim the export again after `afterSeconds`. */
export async function releaseBulkExportClaim(
  sql: SqlClient,
  claim: BulkExportClaim,
  { afterSeconds = 0, hasFailed = false } = {},
): Promise<void> {
  await sql`
    update bulk_exports set state = 'queued', claimed_until = now() + make_interval(secs => ${afterSeconds}),
      failed_attempts = failed_attempts + ${hasFailed ? 1 : 0}
    where ${isClaimHeld(sql, claim)}`;
}

export interface CompleteBulkExportFile extends BulkExportFileRow {
  tillIds: string[];
  /** The last report whose rows the file contains. */
  position: BulkExportPosition;
  /** The number of reports whose rows the file contains. */
  reports: number;
}

/**
 * Stores an uploaded file and its position in one transaction, so that the export continues after the file. Stores
 * nothing and returns false when the claim was lost.
 *
 * @throws `TransientError` when the upload took so long that the object may be deleted.
 */
export async function storeBulkExportFile(
  tx: SqlTransaction,
  claim: BulkExportClaim,
  { position, reports, ...file }: CompleteBulkExportFile,
): Promise<boolean> {
  const { locationId, id } = claim;
  const updated = await tx`
    update bulk_exports set done_day = ${position.day}::text::date, done_at = ${position.at}::text::timestamptz,
      done_report_id = ${position.reportId}, reports = reports + ${reports}, failed_attempts = 0
    where ${isClaimHeld(tx, claim)}`;
  if (updated.count === 0) return false;
  if (!(await keepUploadedObject(tx, { locationId, objectKey: file.objectKey })))
    throw new TransientError(`The upload of ${file.objectKey} took too long.`);
  await tx`insert into bulk_export_files ${tx({ locationId, exportId: id, ...file })}`;
  return true;
}

/** Ends an export with its complete files. Returns false when the claim was lost. */
export async function finishBulkExport(
  tx: SqlTransaction,
  claim: BulkExportClaim,
  { days, rows, reports }: { days: number; rows: number; reports: number },
): Promise<boolean> {
  const updated = await tx`
    update bulk_exports set state = 'done', progress_days = ${days}, progress_rows = ${rows},
      reports = reports + ${reports}, ${endColumns(tx)}
    where ${isClaimHeld(tx, claim)}`;
  return updated.count === 1;
}

const endColumns = (tx: SqlTransaction) => tx`
  finished_at = now(), expires_at = now() + make_interval(days => ${bulkExportKeptDays}), claimed_until = null`;

/** Ends an export without files. */
export async function failBulkExport(
  tx: SqlTransaction,
  claim: BulkExportClaim,
  failure: BulkExportFailure,
): Promise<boolean> {
  const updated = await tx`
    update bulk_exports set state = 'failed', failure = ${JSON.stringify(failure)}, ${endColumns(tx)}
    where ${isClaimHeld(tx, claim)}`;
  if (updated.count === 0) return false;
  await deleteBulkExportFiles(tx, [claim]);
  return true;
}
