import { entityTagOf } from "@pragma/runtime/reply";
import { withRequestContext } from "@pragma/runtime/request-context";
import { SpanKind } from "@pragma/runtime/tracing";
import { isTransient } from "@pragma/runtime/transient-error";
import { OutOfMemoryError, type WorkerPool } from "@pragma/runtime/worker-pool";
import {
  type Claim,
  exportPlan,
  type FinishedExport,
  finishExport,
  type ItemResult,
  keepClaim,
  type PlannedFile,
  releaseClaim,
  reportOfTill,
} from "../queries/accounting-exports.ts";
import type { Reporting } from "../reporting.ts";
import { fileFormats } from "./fec/formats.ts";
import { fecHeader, fecName } from "./fec/write-fec.ts";
import { type FailedTill, failed, type WriteTill, type WrittenTill } from "./write-till.ts";

interface Making extends Pick<Reporting, "db" | "log" | "config"> {
  writer: WorkerPool<WriteTill, WrittenTill | FailedTill>;
}

/** An export that was claimed this often is given up. Claims that a process died with count more: it may be what kills. */
const maxAttempts = 5;
/** Tills after which a claim is prolonged. */
const stride = 5;
/** The wait before an export is tried again, in seconds; twice as long after each further attempt. */
const firstRetrySeconds = 2;

/**
 * Makes an export that was claimed: every file with the tills whose figures add up, and for each other till the reason.
 * All of it is written at once, and by the holder of the latest claim only: a process that was presumed dead changes
 * nothing. What fails is tried again after a while.
 */
export async function makeExport(services: Making, claim: Claim, signal: AbortSignal): Promise<void> {
  const { db, log } = services;
  const { id: exportId, attempt, traceparent } = claim;
  const operation = { name: "accounting export", kind: SpanKind.CONSUMER };
  await withRequestContext({ traceparent, operation }, async ({ traceId }) => {
    const started = performance.now();
    const fields = () => ({ exportId, attempt, traceId, milliseconds: performance.now() - started });
    try {
      const finished = await computeExport(services, claim, signal);
      if (finished && (await db.transaction((tx) => finishExport(tx, claim, finished)))) {
        const { state, items } = finished;
        log.info({ ...fields(), state, tills: items.length }, "accounting export made");
      }
    } catch (error) {
      log.error({ ...fields(), err: error }, "an accounting export could not be made");
      await releaseClaim(db.sql, claim, { afterSeconds: firstRetrySeconds * 2 ** (attempt - 1) });
    }
  });
}

/** What an export comes to; undefined when the claim was lost, or given back because the process stops. */
async function computeExport(services: Making, claim: Claim, signal: AbortSignal): Promise<FinishedExport | undefined> {
  const items: ItemResult[] = [];
  const files: FinishedExport["files"] = [];
  const progress = { claim, signal, bytesLeft: services.config.EXPORT_MAX_BYTES };
  for (const planned of await exportPlan(services.db.sql, claim.id)) {
    const written = await writeFile(services, planned, progress);
    if (!written) return undefined;
    if (written.tills > 0) files.push(written.file);
    items.push(...written.items);
  }
  return { state: items.every((item) => item.state === "done") ? "done" : "failed", items, files };
}

const interrupted = failed("interrupted", "What made the export died again and again. Nothing was exported.");

interface Progress {
  claim: Claim;
  signal: AbortSignal;
  /** How large the rest of the export's files may be; less than 0 once a till did not fit. */
  bytesLeft: number;
}

/** A file with the tills that could be written; undefined when the claim was lost, or given back because the process stops. */
async function writeFile(services: Making, planned: PlannedFile, progress: Progress) {
  const { db } = services;
  const { EXPORT_CLAIM_SECONDS: seconds, EXPORT_MAX_BYTES: maxBytes } = services.config;
  const { claim, signal } = progress;
  const { number, provider } = planned;
  const items: ItemResult[] = [];
  const pieces: Uint8Array[] = [fecHeader(fileFormats[provider])];
  let entries = 0;
  let lastDay = "";
  let siret = "";
  for (const { position, tillId } of planned.tills) {
    if (signal.aborted) {
      await releaseClaim(db.sql, claim);
      return undefined;
    }
    if (items.length % stride === 0 && !(await keepClaim(db.sql, claim, { seconds }))) return undefined;
    let outcome: WrittenTill | FailedTill;
    if (claim.attempt > maxAttempts) outcome = interrupted;
    else if (progress.bytesLeft < 0) outcome = tooLarge(maxBytes);
    else outcome = await writeTill(services, planned, { tillId, entriesBefore: entries });
    if (outcome.failure === null) {
      progress.bytesLeft -= outcome.lines.byteLength;
      if (progress.bytesLeft < 0) outcome = tooLarge(maxBytes);
    }
    if (outcome.failure === null) {
      pieces.push(outcome.lines);
      entries += outcome.entries;
      if (outcome.day > lastDay) lastDay = outcome.day;
      siret = outcome.siret;
    }
    const { failure } = outcome;
    items.push({ position, state: failure ? "failed" : "done", failure: failure && JSON.stringify(failure) });
  }
  // A file is written once: its place stands for its content.
  const etag = entityTagOf(`${claim.id} ${number}`);
  const file = { number, name: fecName({ siret, lastDay }), etag, entries, content: Buffer.concat(pieces) };
  return { file, items, tills: pieces.length - 1 };
}

/** One till with a fault that nobody has foreseen does not keep the others from being exported. */
async function writeTill(
  { db, log, writer, config: { EXPORT_MAX_BYTES: maxBytes } }: Making,
  { locationId, provider, config }: PlannedFile,
  { tillId, entriesBefore }: { tillId: string; entriesBefore: number },
): Promise<WrittenTill | FailedTill> {
  try {
    const stored = await reportOfTill(db.sql, { tillId, locationId });
    return await writer.run({ stored, provider, config, entriesBefore });
  } catch (error) {
    if (error instanceof OutOfMemoryError) return tooLarge(maxBytes);
    if (isTransient(error)) throw error;
    log.error({ err: error, tillId }, "a till could not be exported");
    return failed("internal_error", "Something went wrong on our side. We have noted it.");
  }
}

function tooLarge(maxBytes: number): FailedTill {
  const most = `The files of an export have ${maxBytes} bytes in all at most`;
  return failed("too_large", `${most}, and this till does not fit in them: export it with fewer others.`);
}
