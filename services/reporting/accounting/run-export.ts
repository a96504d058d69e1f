import { OutOfMemoryError, type WorkerPool } from "@pragma/runtime/concurrency/worker-pool";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { runWithRequestContext } from "@pragma/runtime/observability/request-context";
import { SpanKind } from "@pragma/runtime/observability/tracing";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import type { ReportingContext } from "../context.ts";
import {
  type ExportClaim,
  type ExportItemResult,
  type FinishedExport,
  findPlannedExportFiles,
  findReportOfTill,
  finishAccountingExport,
  type PlannedExportFile,
  releaseExportClaim,
  renewExportClaim,
} from "../queries/accounting-exports.ts";
import { fecFileFormats } from "./fec/file-formats.ts";
import { encodeFecHeader, fecFileName } from "./fec/write-fec.ts";
import {
  type FailedTillExport,
  tillExportFailure,
  type WriteTillTask,
  type WrittenTillEntries,
} from "./write-till-entries.ts";

interface ExportServices extends Pick<ReportingContext, "db" | "log" | "config"> {
  writer: WorkerPool<WriteTillTask, WrittenTillEntries | FailedTillExport>;
}

/** An export that was claimed this often is given up. Claims that a process died with count more: it may be what kills. */
const maxAttempts = 5;
/** Tills after which a claim is prolonged. */
const tillsPerClaimRenewal = 5;
/** The wait before an export is tried again, in seconds; twice as long after each further attempt. */
const firstRetryDelaySeconds = 2;

/**
 * Makes an export that was claimed: every file with the tills whose figures add up, and for each other till the reason.
 * All of it is written at once, and by the holder of the latest claim only: a process that was presumed dead changes
 * nothing. What fails is tried again after a while.
 */
export async function runAccountingExport(
  services: ExportServices,
  claim: ExportClaim,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = services;
  const { id: exportId, attempt, traceparent } = claim;
  const operation = { name: "accounting export", kind: SpanKind.CONSUMER };
  await runWithRequestContext({ traceparent, operation }, async ({ traceId }) => {
    const started = performance.now();
    const fields = () => ({ exportId, attempt, traceId, milliseconds: performance.now() - started });
    try {
      const finished = await buildExport(services, claim, signal);
      if (finished && (await db.transaction((tx) => finishAccountingExport(tx, claim, finished)))) {
        const { state, items } = finished;
        log.info({ ...fields(), state, tills: items.length }, "accounting export made");
      }
    } catch (error) {
      log.error({ ...fields(), err: error }, "an accounting export could not be made");
      await releaseExportClaim(db.sql, claim, { afterSeconds: firstRetryDelaySeconds * 2 ** (attempt - 1) });
    }
  });
}

/** What an export comes to; undefined when the claim was lost, or given back because the process stops. */
async function buildExport(
  services: ExportServices,
  claim: ExportClaim,
  signal: AbortSignal,
): Promise<FinishedExport | undefined> {
  const items: ExportItemResult[] = [];
  const files: FinishedExport["files"] = [];
  const progress = { claim, signal, bytesLeft: services.config.EXPORT_MAX_BYTES };
  for (const planned of await findPlannedExportFiles(services.db.sql, claim.id)) {
    const written = await buildExportFile(services, planned, progress);
    if (!written) return undefined;
    if (written.tills > 0) files.push(written.file);
    items.push(...written.items);
  }
  return { state: items.every((item) => item.state === "done") ? "done" : "failed", items, files };
}

const interruptedFailure = tillExportFailure(
  "interrupted",
  "What made the export died again and again. Nothing was exported.",
);

interface ExportProgress {
  claim: ExportClaim;
  signal: AbortSignal;
  /** How large the rest of the export's files may be; less than 0 once a till did not fit. */
  bytesLeft: number;
}

/** A file with the tills that could be written; undefined when the claim was lost, or given back because the process stops. */
async function buildExportFile(services: ExportServices, planned: PlannedExportFile, progress: ExportProgress) {
  const { db } = services;
  const { EXPORT_CLAIM_SECONDS: seconds, EXPORT_MAX_BYTES: maxBytes } = services.config;
  const { claim, signal } = progress;
  const { number, provider } = planned;
  const items: ExportItemResult[] = [];
  const chunks: Uint8Array[] = [encodeFecHeader(fecFileFormats[provider])];
  let entries = 0;
  let lastDay = "";
  let siret = "";
  for (const { position, tillId } of planned.tills) {
    if (signal.aborted) {
      await releaseExportClaim(db.sql, claim);
      return undefined;
    }
    if (items.length % tillsPerClaimRenewal === 0 && !(await renewExportClaim(db.sql, claim, { seconds })))
      return undefined;
    let outcome: WrittenTillEntries | FailedTillExport;
    if (claim.attempt > maxAttempts) outcome = interruptedFailure;
    else if (progress.bytesLeft < 0) outcome = tooLargeFailure(maxBytes);
    else outcome = await writeTillInWorker(services, planned, { tillId, entriesBefore: entries });
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
    items.push({ position, state: failure ? "failed" : "done", failure: failure && JSON.stringify(failure) });
  }
  // A file is written once: its place stands for its content.
  const etag = computeEntityTag(`${claim.id} ${number}`);
  const file = { number, name: fecFileName({ siret, lastDay }), etag, entries, content: Buffer.concat(chunks) };
  return { file, items, tills: chunks.length - 1 };
}

/** One till with a fault that nobody has foreseen does not keep the others from being exported. */
async function writeTillInWorker(
  { db, log, writer, config: { EXPORT_MAX_BYTES: maxBytes } }: ExportServices,
  { locationId, provider, config }: PlannedExportFile,
  { tillId, entriesBefore }: { tillId: string; entriesBefore: number },
): Promise<WrittenTillEntries | FailedTillExport> {
  try {
    const stored = await findReportOfTill(db.sql, { tillId, locationId });
    return await writer.run({ stored, provider, config, entriesBefore });
  } catch (error) {
    if (error instanceof OutOfMemoryError) return tooLargeFailure(maxBytes);
    if (isTransient(error)) throw error;
    log.error({ err: error, tillId }, "a till could not be exported");
    return tillExportFailure("internal_error", "Something went wrong on our side. We have noted it.");
  }
}

function tooLargeFailure(maxBytes: number): FailedTillExport {
  const limitText = `The files of an export have ${maxBytes} bytes in all at most`;
  return tillExportFailure(
    "too_large",
    `${limitText}, and this till does not fit in them: export it with fewer others.`,
  );
}
