import type { TillAccountingExportFailure } from "@pragma/contracts/accounting-export";
import { ApiError } from "@pragma/contracts/errors";
import { defaultLocationPosOptions } from "@pragma/contracts/location-settings";
import { WorkerOutOfMemoryError, type WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { type ObservabilityContext, runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import type { ReportingServiceContext } from "../context.ts";
import { readPackedReport } from "../packing/packed-reader.ts";
import {
  type AccountingExportClaim,
  type ComputedAccountingExport,
  findPlannedAccountingExportFiles,
  type PlannedAccountingExportFile,
  releaseAccountingExportClaim,
  renewAccountingExportClaim,
  storeAccountingExportResult,
  type TillAccountingExportResult,
} from "../queries/accounting-exports.ts";
import { findStoredReportAndAccountingData, type TillReportName } from "../queries/reports.ts";
import { fecFileFormatsByProvider } from "./fec/file-formats.ts";
import { buildFecFileName, encodeFecHeader } from "./fec/write-fec.ts";
import {
  buildFailedTillAccountingExport,
  type EncodedTillJournalEntries,
  type FailedTillAccountingExport,
  type TillJournalEntriesWorkerInput,
} from "./write-till-entries.ts";

interface ExportServices extends Pick<ReportingServiceContext, "db" | "objects" | "log" | "config" | "locations"> {
  writer: WorkerThreadPool<TillJournalEntriesWorkerInput, EncodedTillJournalEntries | FailedTillAccountingExport>;
}

/** Maximum number of attempts. An attempt whose claim expired may have crashed the process, so it counts as three. */
const maxAttempts = 5;
/** The number of processed tills after which the claim is renewed. */
const tillsPerClaimRenewal = 5;
/** The delay before the first retry, in seconds. It doubles with each further retry. */
const firstRetryDelaySeconds = 2;

/**
 * Runs a claimed export: writes every till that can be exported to its file, and records the reason of the failure for
 * every other till. The result is stored in one transaction, which changes nothing if another process has claimed the
 * export since. A failed attempt is retried after a delay.
 */
export async function runAccountingExport(
  services: ExportServices,
  claim: AccountingExportClaim,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = services;
  const { id: exportId, attempt, traceparent } = claim;
  const operation = { name: "accounting export", kind: SpanKind.CONSUMER };
  await runWithObservabilityContext({ traceparent, operation }, async (context) => {
    const { traceId } = context;
    const startedMs = performance.now();
    const fields = () => ({ exportId, attempt, traceId, milliseconds: performance.now() - startedMs });
    try {
      const finished = await buildExport(services, { claim, signal, context });
      if (finished && (await db.transaction((tx) => storeAccountingExportResult(tx, claim, finished)))) {
        const { state, items } = finished;
        log.info({ ...fields(), state, tills: items.length }, "accounting export finished");
      }
    } catch (error) {
      log.error({ ...fields(), err: error }, "accounting export failed");
      await releaseAccountingExportClaim(db.sql, claim, { afterSeconds: firstRetryDelaySeconds * 2 ** (attempt - 1) });
    }
  });
}

/** Returns the result of an export; undefined when the claim was lost, or was released because the process stops. */
async function buildExport(
  services: ExportServices,
  run: Pick<ExportProgress, "claim" | "signal" | "context">,
): Promise<ComputedAccountingExport | undefined> {
  const { claim } = run;
  const items: TillAccountingExportResult[] = [];
  const files: ComputedAccountingExport["files"] = [];
  const progress = { ...run, bytesLeft: services.config.EXPORT_MAX_BYTES };
  for (const planned of await findPlannedAccountingExportFiles(services.db.sql, claim)) {
    const written = await buildExportFile(services, planned, progress);
    if (!written) return undefined;
    if (written.tills > 0) files.push(written.file);
    items.push(...written.items);
  }
  return { state: items.every((item) => item.state === "done") ? "done" : "failed", items, files };
}

const interruptedFailure = buildFailedTillAccountingExport(
  "interrupted",
  "Several attempts to run the export failed, so no till was exported. Create the export again.",
);

interface ExportProgress {
  claim: AccountingExportClaim;
  signal: AbortSignal;
  context: ObservabilityContext;
  /** The number of bytes that the export's files can still contain; negative after a till exceeded the limit. */
  bytesLeft: number;
}

/**
 * Returns a file with the tills that could be written, and the result of each till. Returns undefined when the claim
 * was lost, or was released because the process stops.
 */
async function buildExportFile(
  services: ExportServices,
  planned: PlannedAccountingExportFile,
  progress: ExportProgress,
) {
  const { db } = services;
  const { EXPORT_CLAIM_SECONDS: seconds, EXPORT_MAX_BYTES: maxBytes } = services.config;
  const { claim, signal, context } = progress;
  const { locationId, number, provider } = planned;
  const currency = await findCurrencyOfBooks(services, locationId, context);
  const items: TillAccountingExportResult[] = [];
  const chunks: Uint8Array[] = [encodeFecHeader(fecFileFormatsByProvider[provider])];
  let entries = 0;
  let lastDay = "";
  let siret = "";
  for (const { position, tillId, day, reportNumber } of planned.tills) {
    if (signal.aborted) {
      await releaseAccountingExportClaim(db.sql, claim);
      return undefined;
    }
    if (items.length % tillsPerClaimRenewal === 0 && !(await renewAccountingExportClaim(db.sql, claim, { seconds })))
      return undefined;
    let outcome: EncodedTillJournalEntries | FailedTillAccountingExport;
    if (claim.attempt > maxAttempts) outcome = interruptedFailure;
    else if (progress.bytesLeft < 0) outcome = tooLargeFailure(maxBytes);
    else outcome = await writeTillInWorker(services, planned, { tillId, currency, entriesBefore: entries });
    if (outcome.failure === null) {
      progress.bytesLeft -= outcome.lines.byteLength;
      if (progress.bytesLeft < 0) outcome = tooLargeFailure(maxBytes);
    }
    if (outcome.failure === null) {
      chunks.push(outcome.lines);
      entries += outcome.entries;
      if (outcome.day > lastDay) lastDay = outcome.day;
      siret = outcome.siret;
    }
    const { failure } = outcome;
    items.push({
      locationId,
      position,
      state: failure ? "failed" : "done",
      failure: failure && JSON.stringify(nameReport(failure, { day, reportNumber })),
    });
  }
  // The ETag is computed only from ids, because the content of a file never changes after it is stored.
  const etag = computeEntityTag(`${claim.id} ${number}`);
  const name = buildFecFileName({ siret, lastDay });
  const file = { locationId, number, name, etag, entries, content: Buffer.concat(chunks) };
  return { file, items, tills: chunks.length - 1 };
}

/** Adds the day and the number of the report, by which people find the till at the point of sale. */
function nameReport(
  { message, ...failure }: FailedTillAccountingExport["failure"],
  { day, reportNumber }: TillReportName,
): TillAccountingExportFailure {
  const name = day === null ? "" : `Report ${reportNumber} of ${day}: `;
  return { ...failure, message: `${name}${message}`, day, reportNumber };
}

/**
 * Returns the currency of a location's books, which is the location's currency. Returns the default for a location that
 * is being removed. An error of accounts fails the attempt, because other decimals would be other amounts.
 */
async function findCurrencyOfBooks(
  { locations }: Pick<ExportServices, "locations">,
  locationId: string,
  context: ObservabilityContext,
): Promise<string> {
  const currency = await locations.getCurrency(locationId, context).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "location_not_found") return null;
    throw error;
  });
  return currency ?? defaultLocationPosOptions.currencyCode;
}

/**
 * Encodes a till in a worker thread. After a transient error, throws, so that the whole export is retried. After any
 * other error, only this till fails, and the other tills are exported.
 */
async function writeTillInWorker(
  { db, objects, log, writer, config: { EXPORT_MAX_BYTES: maxBytes } }: ExportServices,
  { locationId, provider, config }: PlannedAccountingExportFile,
  { tillId, currency, entriesBefore }: { tillId: string; currency: string; entriesBefore: number },
): Promise<EncodedTillJournalEntries | FailedTillAccountingExport> {
  try {
    const found = await findStoredReportAndAccountingData(db.sql, { tillId, locationId });
    const stored = found && "packed" in found ? await readPackedReport(objects, found.packed) : found;
    return await writer.run({ stored, provider, config, currency, entriesBefore });
  } catch (error) {
    if (error instanceof WorkerOutOfMemoryError) return tooLargeFailure(maxBytes);
    if (isTransient(error)) throw error;
    log.error({ err: error, tillId }, "till export failed");
    return buildFailedTillAccountingExport(
      "internal_error",
      "The till could not be exported because of an internal error.",
    );
  }
}

function tooLargeFailure(maxBytes: number): FailedTillAccountingExport {
  const limitText = `The files of an export are limited to ${maxBytes} bytes in total`;
  return buildFailedTillAccountingExport("too_large", `${limitText}. Export this till with fewer other tills.`);
}
