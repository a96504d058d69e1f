import { createHash, randomUUID } from "node:crypto";
import { type BulkExportFailure, bulkExportFileExtensions } from "@pragma/contracts/bulk-export";
import { countDays } from "@pragma/contracts/date-time";
import { ApiError } from "@pragma/contracts/errors";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { isRemovedLocationError, isTransient } from "@pragma/runtime/retries/transient-error";
import type { ReportingServiceContext } from "../context.ts";
import {
  type BulkExportClaim,
  type ClaimedBulkExport,
  failBulkExport,
  findClaimedBulkExport,
  finishBulkExport,
  isBulkExportOfOtherLocationDue,
  releaseBulkExportClaim,
  renewBulkExportClaim,
  setBulkExportCurrency,
  storeBulkExportFile,
} from "../queries/bulk-export-claims.ts";
import { type BulkExportPosition, findStoredBulkExportBytes } from "../queries/bulk-exports.ts";
import { recordUpload } from "../queries/unused-objects.ts";
import {
  createExportFileRunner,
  type ExportFileServices,
  TillTooLargeError,
  TooManyRowsError,
} from "./export-worker-client.ts";
import type { WrittenExportFile } from "./export-worker-messages.ts";

export interface BulkExportServices
  extends ExportFileServices,
    Pick<ReportingServiceContext, "db" | "objects" | "log" | "config" | "locations"> {}

/** Maximum number of attempts in succession without a new complete file. */
const maxFailedAttempts = 10;
/** The delay before the first retry, in seconds. It doubles with each further retry, up to the maximum. */
const firstRetryDelaySeconds = 2;
const maxRetryDelaySeconds = 60;
/** The claim is renewed, and the progress stored, after this time. */
const renewalMs = 1_000;

/** Thrown when the claim was lost, when the process stops, or when exports of other locations wait. */
class ExportInterruptedError extends Error {}

/** The error for an export that cannot succeed. */
class ExportFailedError extends Error {
  readonly failure: BulkExportFailure;

  constructor(failure: BulkExportFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Runs a claimed export from the end of its last complete file. Each file is stored in one transaction with the position
 * of its last report, so that an export that was interrupted continues without losing or repeating rows. After each file,
 * the export lets those of other locations run first, so that a large export does not delay them until its end. A failed
 * attempt is retried after a delay.
 */
export async function runBulkExport(
  services: BulkExportServices,
  claim: BulkExportClaim,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = services;
  const { id: exportId, locationId, traceparent } = claim;
  const operation = { name: "bulk export", kind: SpanKind.CONSUMER };
  await runWithObservabilityContext({ traceparent, operation }, async (context) => {
    const startedMs = performance.now();
    const fields = () => {
      const milliseconds = performance.now() - startedMs;
      return { exportId, locationId, claimNumber: claim.claimNumber, traceId: context.traceId, milliseconds };
    };
    try {
      if (claim.failedAttempts >= maxFailedAttempts) throw new ExportFailedError(interruptedFailure);
      const finished = await exportFiles(services, claim, { signal, context });
      log.info({ ...fields(), ...finished }, "bulk export finished");
    } catch (error) {
      // A removed location's exports have been deleted, or are about to be.
      if (error instanceof ExportInterruptedError || isRemovedLocationError(error)) {
        const afterSeconds = isRemovedLocationError(error) ? maxRetryDelaySeconds : 0;
        await releaseBulkExportClaim(db.sql, claim, { afterSeconds });
        return;
      }
      const failure = error instanceof ExportFailedError ? error.failure : toFailure(error, claim.failedAttempts + 1);
      log[error instanceof ExportFailedError ? "info" : "error"]({ ...fields(), err: error }, "bulk export failed");
      if (failure) await db.transaction((tx) => failBulkExport(tx, claim, failure));
      else {
        const afterSeconds = Math.min(maxRetryDelaySeconds, firstRetryDelaySeconds * 2 ** claim.failedAttempts);
        await releaseBulkExportClaim(db.sql, claim, { afterSeconds, hasFailed: true });
      }
    }
  });
}

const interruptedFailure: BulkExportFailure = {
  code: "internal_error",
  message: "Several attempts to run the export were interrupted. Create the export again, with fewer days.",
};

/** Returns the failure after the last attempt, and undefined if the export is to be retried. */
function toFailure(error: unknown, attempts: number): BulkExportFailure | undefined {
  if (attempts < maxFailedAttempts) return undefined;
  const isUnavailable = isTransient(error) || (error instanceof ApiError && error.code === "service_unavailable");
  return isUnavailable
    ? {
        code: "data_unavailable",
        message: "Reports or orders of the range could not be read. Create the export again later.",
      }
    : { code: "internal_error", message: "The export failed because of an internal error." };
}

interface RunOptions {
  signal: AbortSignal;
  context: ObservabilityContext;
}

/** The state of a running export. */
interface ExportRun extends RunOptions {
  services: BulkExportServices;
  claim: BulkExportClaim;
  row: ClaimedBulkExport;
  /** The tills whose rows are in complete files. */
  tillIds: string[];
  /** The rows in complete files. */
  rows: number;
  renewedAtMs: number;
}

/** Writes all remaining files, and ends the export. */
async function exportFiles(services: BulkExportServices, claim: BulkExportClaim, options: RunOptions) {
  const { db } = services;
  const row = await findClaimedBulkExport(db.sql, claim);
  if (!row) throw new ExportInterruptedError();
  const run: ExportRun = {
    ...{ services, claim, row, ...options },
    tillIds: [...row.tillIds],
    rows: row.fileRows,
    renewedAtMs: 0,
  };
  const runner = createExportFileRunner(services);
  row.currencyCode ??= await findCurrency(run);
  let position = row.position;
  let { files } = row;
  for (;;) {
    const file = await writeFile(run, runner, position);
    if (file.rows > 0) {
      files += 1;
      await storeFile(run, file, files);
      run.rows += file.rows;
      run.tillIds.push(...file.tillIds);
    }
    if (file.isLast) {
      const days = countDays(row);
      const ended = await db.transaction((tx) =>
        finishBulkExport(tx, claim, { days, rows: run.rows, reports: file.rows > 0 ? 0 : file.reports }),
      );
      if (!ended) throw new ExportInterruptedError();
      return { files, rows: run.rows };
    }
    position = file.position;
    if (await isBulkExportOfOtherLocationDue(db.sql, claim.locationId)) throw new ExportInterruptedError();
  }
}

async function findCurrency({ services, claim, context }: ExportRun): Promise<string | null> {
  const currencyCode = await services.locations.getCurrency(claim.locationId, context).catch((error: unknown) => {
    // A location that is being removed.
    if (error instanceof ApiError && error.code === "location_not_found") return null;
    throw error;
  });
  await setBulkExportCurrency(services.db.sql, claim, currencyCode);
  return currencyCode;
}

/** Writes the rows of the reports after a position to a file. */
async function writeFile(
  run: ExportRun,
  runner: ReturnType<typeof createExportFileRunner>,
  after: BulkExportPosition | null,
): Promise<WrittenExportFile> {
  const { row, tillIds } = run;
  const { BULK_EXPORT_MAX_ROWS: maximum } = run.services.config;
  const { locationId, data, format, since, until, currencyCode } = row;
  try {
    return await runner.write({
      export: { locationId, data, format, since, until, currencyCode },
      ...{ after, writtenTillIds: tillIds, maxRows: maximum - run.rows },
      onProgress: ({ day, rows }) => renewClaim(run, { day, rows: run.rows + rows }),
    });
  } catch (error) {
    if (error instanceof TooManyRowsError) {
      const message = `An export can have up to ${maximum} rows. Export fewer days at once.`;
      throw new ExportFailedError({ code: "too_many_rows", message });
    }
    if (!(error instanceof TillTooLargeError)) throw error;
    throw new ExportFailedError({
      code: "internal_error",
      message: `The till ${error.tillId} is too large to export.`,
    });
  }
}

/**
 * Renews the claim, and stores the progress, at most once a second.
 *
 * @throws `ExportInterruptedError` when the claim was lost or the process stops.
 */
async function renewClaim(run: ExportRun, { day, rows }: { day: string; rows: number }): Promise<void> {
  const { services, claim, row, signal } = run;
  if (signal.aborted) throw new ExportInterruptedError();
  if (performance.now() - run.renewedAtMs < renewalMs) return;
  run.renewedAtMs = performance.now();
  const { EXPORT_CLAIM_SECONDS: seconds } = services.config;
  const days = countDays({ since: row.since, until: day }) - 1;
  if (!(await renewBulkExportClaim(services.db.sql, claim, { seconds, days: Math.max(0, days), rows })))
    throw new ExportInterruptedError();
}

/** Uploads a file and stores it with its position. */
async function storeFile(run: ExportRun, written: WrittenExportFile, number: number): Promise<void> {
  const { services, claim, row } = run;
  const { db, objects, config } = services;
  const { locationId, id } = claim;
  const { rows, sums, days, tillIds, position, reports } = written;
  if (!position) throw new Error("A file with rows has no position.");
  const content = new Uint8Array(written.buffer, 0, written.bytes);
  const maximum = config.BULK_EXPORT_MAX_BYTES_PER_LOCATION;
  if ((await findStoredBulkExportBytes(db.sql, locationId)) + content.byteLength > maximum) {
    const message = `The files of the location's exports can have up to ${maximum} bytes in total. Delete exports, or export fewer days at once.`;
    throw new ExportFailedError({ code: "storage_limit", message });
  }
  const { first = position.day, last = position.day } = days ?? {};
  const objectKey = `exports/${locationId}/${id}-${number}-${randomUUID()}`;
  const file = {
    ...{ number, objectKey, rows, position, reports, tillIds },
    name: `${row.data}-${row.since}-${row.until}-${String(number).padStart(4, "0")}.${bulkExportFileExtensions[row.format]}`,
    bytes: content.byteLength,
    sha256: createHash("sha256").update(content).digest("hex"),
    ...{ sums: JSON.stringify(sums), firstDay: first, lastDay: last },
  };
  await recordUpload(db.sql, { locationId, objectKey });
  await objects.put(objectKey, content);
  if (!(await db.transaction((tx) => storeBulkExportFile(tx, claim, file)))) throw new ExportInterruptedError();
}
