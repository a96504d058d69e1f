import type { AccountingProvider, TillAccountingExportFailure } from "@pragma/contracts/accounting-export";
import { defaultLocationPosOptions } from "@pragma/contracts/location-settings";
import { WorkerOutOfMemoryError, type WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import { decodeReportBlock } from "../documents/packing/pack-format.ts";
import { readPackedBlock } from "../documents/packing/packed-reader.ts";
import { findStoredTillData, listTillsByClosingTime, type TillReportName } from "../documents/queries/reports.ts";
import type { ExportKind } from "../exports/export-kind.ts";
import { type ExportFileRow, listExportFiles } from "../exports/queries/export-queries.ts";
import type { ExportRun } from "../exports/run-export.ts";
import { buildFecFileName, encodeFecHeader, fecFileFormatsByProvider } from "./fec/file-formats.ts";
import type {
  EncodedTillJournalEntries,
  FailedTillAccountingExport,
  TillJournalEntriesWorkerInput,
} from "./write-till-entries.ts";

export interface AccountingExportTill {
  position: number;
  tillId: string;
  state: "pending" | "done" | "failed";
  failure: TillAccountingExportFailure | null;
}

export interface AccountingExportTypes {
  request: Record<string, never>;
  progress: Record<string, never>;
  fileDetails: {
    configId: string;
    /** A copy of the config as JSON, so that later changes of the config do not affect the export. */
    config: string;
    provider: AccountingProvider;
    tills: AccountingExportTill[];
    entries: number;
  };
  failure: Record<string, never>;
}

export type AccountingExportFile = ExportFileRow<AccountingExportTypes>;

/** Exports of the journal entries of tills. The files are known in advance, and contain their tills from the beginning. */
export const accountingExports: ExportKind<AccountingExportTypes> = {
  name: "accounting",
  auditType: "accounting_export",
  objectFolder: "accounting",
  concurrency: 2,
  isOneAtATimePerLocation: false,
  maxFailedAttempts: 5,
  retentionDays: ({ EXPORTS_RETENTION_DAYS: days }) => days,
  unfinishedLimit: ({ MAX_UNFINISHED_EXPORTS_PER_LOCATION: maximum }) => ({ name: "unfinished_exports", maximum }),
};

export type JournalEntriesWriter = WorkerThreadPool<
  TillJournalEntriesWorkerInput,
  EncodedTillJournalEntries | FailedTillAccountingExport
>;

interface AccountingExportRun extends ExportRun<AccountingExportTypes> {
  writer: JournalEntriesWriter;
  /** The number of bytes that the export's files can still contain; negative after a till exceeded the limit. */
  bytesLeft: number;
}

/** Writes the tills of an export to their files, or records why they fail. The result of all tills is stored at once. */
export async function writeAccountingExportFiles(
  exportRun: ExportRun<AccountingExportTypes>,
  writer: JournalEntriesWriter,
): Promise<object> {
  const { services, claim } = exportRun;
  const run: AccountingExportRun = { ...exportRun, writer, bytesLeft: services.config.EXPORT_MAX_BYTES };
  const files: Awaited<ReturnType<typeof buildFile>>[] = [];
  for (const file of await listExportFiles<AccountingExportTypes>(services.db.sql, claim.id))
    files.push(await buildFile(run, file));
  const tills = files.flatMap(({ details }) => details.tills);
  const state = tills.every((till) => till.state === "done") ? "done" : "failed";
  await run.storeFiles(files, { progress: {}, end: state });
  return { state, tills: tills.length };
}

const interruptedFailure = buildFailure(
  "interrupted",
  "Several attempts to run the export failed, so no till was exported. Create the export again.",
);

/** Returns a file with the result of each till. The content is missing if none of the tills could be exported. */
async function buildFile(run: AccountingExportRun, file: AccountingExportFile) {
  const { locationId, number, details } = file;
  const maxBytes = run.services.config.EXPORT_MAX_BYTES;
  // An unknown currency is that of a location that is being removed.
  const currency = (await run.findCurrency(locationId)) ?? defaultLocationPosOptions.currencyCode;
  const positions = new Map(details.tills.map(({ tillId, position }) => [tillId, position]));
  const planned = await listTillsByClosingTime(run.services.db.sql, { locationId, tillIds: [...positions.keys()] });
  const tills: AccountingExportTill[] = [];
  const chunks: Uint8Array[] = [encodeFecHeader(fecFileFormatsByProvider[details.provider])];
  let entries = 0;
  let lastDay = "";
  let siret = "";
  for (const till of planned) {
    const { tillId } = till;
    await run.renewClaim({});
    let outcome: EncodedTillJournalEntries | FailedTillAccountingExport;
    if (run.hasFailedTooOften) outcome = interruptedFailure;
    else if (run.bytesLeft < 0) outcome = tooLargeFailure(maxBytes);
    else outcome = await writeTillInWorker(run, file, { tillId, currency, entriesBefore: entries });
    if (outcome.failure === null) {
      run.bytesLeft -= outcome.lines.byteLength;
      if (run.bytesLeft < 0) outcome = tooLargeFailure(maxBytes);
    }
    if (outcome.failure === null) {
      chunks.push(outcome.lines);
      entries += outcome.entries;
      if (outcome.day > lastDay) lastDay = outcome.day;
      siret = outcome.siret;
    }
    tills.push({
      ...{ position: positions.get(tillId) as number, tillId, state: outcome.failure ? "failed" : "done" },
      failure: outcome.failure && nameReport(outcome.failure, till),
    });
  }
  const written = chunks.length > 1 && { name: buildFecFileName({ siret, lastDay }), content: Buffer.concat(chunks) };
  return { number, locationId, details: { ...details, tills, entries }, ...written };
}

/** Adds the day and the number of the report, by which people find the till at the point of sale. */
function nameReport(
  { message, ...failure }: FailedTillAccountingExport["failure"],
  { day, reportNumber }: TillReportName,
): TillAccountingExportFailure {
  const name = day === null ? "" : `Report ${reportNumber} of ${day}: `;
  return { ...failure, message: `${name}${message}`, day, reportNumber };
}

/** Encodes a till in a worker thread. Throws transient errors, so that the whole export is retried. */
async function writeTillInWorker(
  { services: { db, objects, log, config: serviceConfig }, writer }: AccountingExportRun,
  { locationId, details: { provider, config } }: AccountingExportFile,
  { tillId, currency, entriesBefore }: { tillId: string; currency: string; entriesBefore: number },
): Promise<EncodedTillJournalEntries | FailedTillAccountingExport> {
  try {
    const found = await findStoredTillData(db.sql, { tillId, locationId });
    const stored =
      found && "packed" in found
        ? await readPackedBlock(objects, { till: found.packed, block: 0 }, decodeReportBlock)
        : found;
    return await writer.run({ stored, provider, config, currency, entriesBefore });
  } catch (error) {
    if (error instanceof WorkerOutOfMemoryError) return tooLargeFailure(serviceConfig.EXPORT_MAX_BYTES);
    if (isTransient(error)) throw error;
    log.error({ err: error, tillId }, "till export failed");
    return buildFailure("internal_error", "The till could not be exported because of an internal error.");
  }
}

function tooLargeFailure(maxBytes: number): FailedTillAccountingExport {
  const limitText = `The files of an export are limited to ${maxBytes} bytes in total`;
  return buildFailure("too_large", `${limitText}. Export this till with fewer other tills.`);
}

function buildFailure(code: TillAccountingExportFailure["code"], message: string): FailedTillAccountingExport {
  return { failure: { code, message, gaps: [] } };
}
