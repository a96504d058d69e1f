import type { BulkExportFailure, BulkExportFormat } from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import type { TillKey } from "../../../documents/queries/tills.ts";
import { deleteExportFiles, isUnfinished, lockExports, toJson } from "../../queries/export-queries.ts";

/** The rows to export, and the format of the files. Days are YYYY-MM-DD. */
export interface BulkExportQuery {
  data: BulkExportData;
  format: BulkExportFormat;
  since: string;
  until: string;
}

/** Returns the total size of the files of all bulk exports of a location. */
export async function findStoredBulkExportBytes(sql: SqlClient | SqlTransaction, locationId: string): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`
    select coalesce(sum(bytes), 0)::bigint as bytes from export_files
    where location_id = ${locationId} and till_ids is not null`;
  return row.bytes;
}

const erasureFailure: BulkExportFailure = {
  code: "personal_data_erased",
  message:
    "Personal data was erased from a till whose rows the files contained, so the files were removed. Create the export again.",
};

/**
 * Removes the files of finished bulk exports that contain a till whose personal data is erased. Unfinished exports that
 * may have read the till start again.
 */
export async function removeErasedTillFromBulkExports(
  tx: SqlTransaction,
  db: Database,
  { locationId, tillId }: TillKey,
): Promise<void> {
  await lockExports(tx, db, locationId);
  const affected = await tx<{ id: string }[]>`
    select id from exports
    where kind = 'bulk' and location_id = ${locationId} and (
      (${isUnfinished(tx)} and exists (
        select from reports where location_id = ${locationId} and till_id = ${tillId}
          and day between (request ->> 'since')::date and (request ->> 'until')::date
      )) or id in (
        select export_id from export_files where location_id = ${locationId} and ${tillId}::uuid = any(till_ids)
      )
    )
    order by id for update`;
  if (affected.length === 0) return;
  const ids = affected.map(({ id }) => id);
  await deleteExportFiles(tx, ids);
  await tx`
    update exports set state = 'removed', failure = ${toJson(tx, erasureFailure)}
    where id = any(${ids}::uuid[]) and not ${isUnfinished(tx)}`;
  await tx`
    update exports set state = 'queued', claim_number = claim_number + 1, claimed_until = null, progress = '{}'
    where id = any(${ids}::uuid[]) and ${isUnfinished(tx)}`;
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
  range: { locationId: string; since: string; until: string; after: BulkExportPosition | null; limit: number },
): Promise<ReportToExport[]> {
  const { locationId, since, until, after, limit } = range;
  const isAfter = after
    ? sql`and day >= ${after.day}::text::date and (day, started_at, id)
        > (${after.day}::text::date, ${after.at}::text::timestamptz, ${after.reportId}::uuid)`
    : sql``;
  return sql<ReportToExport[]>`
    select till_id, id as report_id, day::text as day, started_at::text as at from reports
    where location_id = ${locationId} and day between ${since}::text::date and ${until}::text::date ${isAfter}
    order by reports.day, started_at, id limit ${limit}`;
}
