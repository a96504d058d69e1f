import { type BulkExportFailure, bulkExportFileExtensions, bulkExportKeptDays } from "@pragma/contracts/bulk-export";
import { countDays } from "@pragma/contracts/date-time";
import { ApiError } from "@pragma/contracts/errors";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import { isExportOfOtherLocationDue } from "../export-claims.ts";
import type { ExportKind } from "../export-kind.ts";
import { listExportFiles } from "../queries/export-queries.ts";
import { ExportFailedError, ExportInterruptedError, type ExportRun } from "../run-export.ts";
import { createExportFileRunner, type ExportFileWorkers } from "./export-worker-client.ts";
import type { WrittenExportFile } from "./export-worker-messages.ts";
import {
  type BulkExportPosition,
  type BulkExportQuery,
  findStoredBulkExportBytes,
} from "./queries/bulk-export-queries.ts";

interface BulkExportProgress {
  /** What was exported, also in the file that is not complete yet. */
  days: number;
  rows: number;
  /** The number of reports whose rows are in complete files. */
  reports: number;
  /** The last report whose rows are in a complete file; null before the first file. */
  position: BulkExportPosition | null;
  currencyCode: string | null;
}

export interface BulkExportTypes {
  request: BulkExportQuery;
  progress: BulkExportProgress;
  /** `sums` contains the sum of each summed column. */
  fileDetails: { rows: number; sums: Record<string, number>; firstDay: string; lastDay: string };
  failure: BulkExportFailure;
}

/**
 * Exports of all rows of a range of days. One is run at a time in each instance, which limits the memory, and of each
 * location.
 */
export const bulkExports: ExportKind<BulkExportTypes> = {
  name: "bulk",
  auditType: "export",
  objectFolder: "exports",
  concurrency: 1,
  isOneAtATimePerLocation: true,
  maxFailedAttempts: 10,
  retentionDays: () => bulkExportKeptDays,
  unfinishedLimit: ({ BULK_EXPORT_MAX_UNFINISHED_PER_LOCATION: maximum }) => ({
    name: "unfinished_bulk_exports",
    maximum,
  }),
  toFailure(error) {
    const isUnavailable = isTransient(error) || (error instanceof ApiError && error.code === "service_unavailable");
    return isUnavailable
      ? {
          code: "data_unavailable",
          message: "Reports or orders of the range could not be read. Create the export again later.",
        }
      : { code: "internal_error", message: "The export failed because of an internal error." };
  },
};

const interruptedFailure: BulkExportFailure = {
  code: "internal_error",
  message: "Several attempts to run the export were interrupted. Create the export again, with fewer days.",
};

interface BulkExportRun extends ExportRun<BulkExportTypes> {
  locationId: string;
  progress: BulkExportProgress;
  tillIds: string[];
}

/**
 * Writes the files of an export after its last complete file. Each file is stored in one transaction with the position of
 * its last report, so that an interrupted export continues. After each file, exports of other locations run first.
 */
export async function writeBulkExportFiles(
  exportRun: ExportRun<BulkExportTypes>,
  workers: ExportFileWorkers,
): Promise<object> {
  if (exportRun.hasFailedTooOften) throw new ExportFailedError<BulkExportTypes>(interruptedFailure);
  const { services, claim, row } = exportRun;
  const { sql } = services.db;
  const locationId = row.locationId ?? "";
  const files = await listExportFiles<BulkExportTypes>(sql, claim.id);
  const { position = null, reports = 0, currencyCode = await exportRun.findCurrency(locationId) } = row.progress;
  const rows = files.reduce((sum, { details }) => sum + details.rows, 0);
  const exported = await sql<{ tillId: string }[]>`
    select unnest(till_ids) as till_id from export_files where export_id = ${claim.id}`;
  const run: BulkExportRun = {
    ...{ ...exportRun, locationId },
    progress: { days: row.progress.days ?? 0, rows, reports, position, currencyCode },
    tillIds: exported.map(({ tillId }) => tillId),
  };
  const runThread = createExportFileRunner(services, workers);
  for (let number = files.length + 1; ; number += 1) {
    const file = await writeFile(run, runThread);
    const { progress } = run;
    progress.reports += file.reports;
    progress.rows += file.rows;
    progress.position = file.position;
    const hasRows = file.rows > 0;
    const newFiles = hasRows ? [await describeFile(run, file, number)] : [];
    if (file.isLast) {
      const end = { progress: { ...progress, days: countDays(row.request) }, end: "done" as const };
      await run.storeFiles(newFiles, end);
      return { files: hasRows ? number : number - 1, rows: progress.rows };
    }
    await run.storeFiles(newFiles, { progress });
    run.tillIds.push(...file.tillIds);
    if (await isExportOfOtherLocationDue(sql, bulkExports, claim)) throw new ExportInterruptedError();
  }
}

async function writeFile(
  { services, locationId, row, progress, tillIds, renewClaim }: BulkExportRun,
  runThread: ReturnType<typeof createExportFileRunner>,
): Promise<WrittenExportFile> {
  const { BULK_EXPORT_MAX_ROWS: maximum } = services.config;
  const { request } = row;
  const output = await runThread({
    export: { locationId, ...request, currencyCode: progress.currencyCode },
    ...{ after: progress.position, writtenTillIds: tillIds, maxRows: maximum - progress.rows },
    onProgress({ day, rows }) {
      progress.days = Math.max(0, countDays({ since: request.since, until: day }) - 1);
      return renewClaim({ ...progress, rows: progress.rows + rows });
    },
  });
  if (output.outcome === "written") return output;
  throw new ExportFailedError<BulkExportTypes>(
    output.outcome === "too_many_rows"
      ? { code: "too_many_rows", message: `An export can have up to ${maximum} rows. Export fewer days at once.` }
      : { code: "internal_error", message: `The till ${output.tillId} is too large to export.` },
  );
}

/** @throws `ExportFailedError` when the location would have too many bytes of files. */
async function describeFile({ services, locationId, row }: BulkExportRun, written: WrittenExportFile, number: number) {
  const { db, config } = services;
  const { rows, sums, days, tillIds, position } = written;
  if (!position) throw new Error("A file with rows has no position.");
  const content = new Uint8Array(written.buffer, 0, written.bytes);
  const maximum = config.BULK_EXPORT_MAX_BYTES_PER_LOCATION;
  if ((await findStoredBulkExportBytes(db.sql, locationId)) + content.byteLength > maximum) {
    const message = `The files of the location's exports can have up to ${maximum} bytes in total. Delete exports, or export fewer days at once.`;
    throw new ExportFailedError<BulkExportTypes>({ code: "storage_limit", message });
  }
  const { data, format, since, until } = row.request;
  const { first = position.day, last = position.day } = days ?? {};
  return {
    ...{ number, locationId, content, tillIds },
    name: `${data}-${since}-${until}-${String(number).padStart(4, "0")}.${bulkExportFileExtensions[format]}`,
    details: { rows, sums, firstDay: first, lastDay: last },
  };
}
