import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ApiError } from "@pragma/contracts/errors";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { markWorkerOutputForTransfer } from "@pragma/runtime/concurrency/worker-pool";
import { createSqlClient, type SqlClient } from "@pragma/runtime/database/postgres";
import { isTransient } from "@pragma/runtime/retries/transient-error";
import type { PackedTillIndex } from "../../documents/queries/packed-tills.ts";
import { DocumentTooLargeError } from "../../documents/stored-documents.ts";
import { type EncodedExportRows, encodeExportRows } from "./encode-export-rows.ts";
import { createExportFileWriter, type ExportFileWriter, FileBuffer } from "./export-file-formats.ts";
import type { ExportedTill } from "./export-rows.ts";
import type {
  ExportFileInput,
  ExportFileOutput,
  ExportMainMessage,
  ExportThreadMessage,
  WrittenExportFile,
} from "./export-worker-messages.ts";
import { listReportsToExport, type ReportToExport } from "./queries/bulk-export-queries.ts";
import { readTillDocuments } from "./read-till-documents.ts";

const reportsPerPage = 100;
/** A file is also full when it has this many times as many bytes before compression as it may have after it. */
const maxCompressionRatio = 32;

class EndedWithoutFileError extends Error {
  readonly output: ExportFileOutput;

  constructor(output: ExportFileOutput) {
    super(output.outcome);
    this.output = output;
  }
}

/**
 * Writes one file of an export: the rows of the reports after a position, until the file is large enough. Runs in a thread
 * with a small heap and a database connection of its own.
 */
export default async function writeExportFile(input: ExportFileInput): Promise<ExportFileOutput> {
  const { database, schema, port } = input;
  const freeUnusedBuffers = createBufferCollector();
  const sql = createSqlClient({ ...database, DATABASE_POOL: 1 }, { schema, log: { debug() {} } });
  try {
    const written = await writeReports({ ...input, sql, mainThread: connectToMainThread(port), freeUnusedBuffers });
    return markWorkerOutputForTransfer(written, [written.buffer]);
  } catch (error) {
    if (error instanceof EndedWithoutFileError) return error.output;
    // Errors of other classes lose their properties on the way to the main thread.
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const isUnavailable = error instanceof ApiError && error.code === "service_unavailable";
    return { outcome: "failed", message, isTransient: isUnavailable || isTransient(error) };
  } finally {
    port.close();
    await sql.end({ timeout: 5 });
  }
}

// Node.js has no other access to the garbage collector of a thread.
setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** The maximum size of the buffers of documents that are no longer used, in bytes. */
const maxUnusedBytes = 8 * 1024 * 1024;

/**
 * Returns a function that frees buffers that are no longer used, which the limits of the heap do not contain. Each
 * collection takes the time of several batches, so the buffers in use at the start do not count.
 */
function createBufferCollector(): () => void {
  const usedAtStart = getHeapStatistics().external_memory;
  return () => {
    if (getHeapStatistics().external_memory > usedAtStart + maxUnusedBytes) collectGarbage();
  };
}

function connectToMainThread(port: ExportFileInput["port"]) {
  let isStopped = false;
  let receiveBlock: (bytes: Uint8Array | undefined) => void = () => {};
  const send = (message: ExportThreadMessage) => port.postMessage(message);
  port.on("message", (message: ExportMainMessage) => {
    if (message.type === "stop") isStopped = true;
    else receiveBlock(message.type === "block" ? message.bytes : undefined);
  });
  return {
    /** @throws when the main thread wants this thread to stop. */
    reportProgress(report: ReportToExport, rows: number): void {
      if (isStopped) throw new EndedWithoutFileError({ outcome: "stopped" });
      send({ type: "progress", day: report.day, tillId: report.tillId, rows });
    },
    /**
     * Returns a block of a packed till, which the main thread reads, because it knows whether the object store answers.
     */
    async readBlock(index: PackedTillIndex, block: number): Promise<Uint8Array> {
      const bytes = await new Promise<Uint8Array | undefined>((resolve) => {
        receiveBlock = resolve;
        send({ type: "block", index, block });
      });
      if (!bytes) throw new EndedWithoutFileError({ outcome: "stopped" });
      return bytes;
    },
  };
}

interface FileTask extends ExportFileInput {
  sql: SqlClient;
  mainThread: ReturnType<typeof connectToMainThread>;
  freeUnusedBuffers(): void;
}

/** The file that is being written, and the tills whose rows are in it or in a file before. */
interface FileInProgress extends Pick<WrittenExportFile, "rows" | "sums" | "days" | "tillIds"> {
  writer: ExportFileWriter;
  /** The size of the text before compression, and its CRC-32, which is undefined at the beginning of the file. */
  textBytes: number;
  checksum: number | undefined;
  writtenTillIds: Set<string>;
}

async function writeReports(task: FileTask): Promise<WrittenExportFile> {
  const { sql, maxFileBytes } = task;
  const buffer = new FileBuffer(task.buffer);
  const file: FileInProgress = {
    writer: createExportFileWriter({ ...task.export, buffer }),
    writtenTillIds: new Set(task.writtenTillIds),
    ...{ textBytes: 0, checksum: undefined, rows: 0, sums: {}, days: undefined, tillIds: [] },
  };
  let position = task.after;
  let reports = 0;
  const finish = (isLast: boolean): WrittenExportFile => {
    const { writer, textBytes, checksum = 0, rows, sums, days, tillIds } = file;
    if (rows > 0) writer.finish({ bytes: textBytes, checksum });
    return {
      ...{ outcome: "written", buffer: buffer.bytes, bytes: buffer.size },
      ...{ position, rows, reports, sums, days, tillIds, isLast },
    };
  };
  for (;;) {
    const page = await listReportsToExport(sql, { ...task.export, after: position, limit: reportsPerPage });
    for (const report of page) {
      await writeReport(task, file, report);
      position = { day: report.day, at: report.at, reportId: report.reportId };
      reports += 1;
      const isFull = buffer.size >= maxFileBytes || file.textBytes >= maxFileBytes * maxCompressionRatio;
      if (file.rows > 0 && isFull) return finish(false);
    }
    if (page.length < reportsPerPage) return finish(true);
  }
}

/** Writes the rows of a report to a file, unless a file contains them already because its business day has changed. */
async function writeReport(task: FileTask, file: FileInProgress, report: ReportToExport): Promise<void> {
  const { sql, mainThread, maxDocumentBytes, maxRows } = task;
  const { locationId, data, format, currencyCode } = task.export;
  mainThread.reportProgress(report, file.rows);
  const { tillId } = report;
  if (file.writtenTillIds.has(tillId)) return;
  try {
    await readTillDocuments(
      { sql, readBlock: mainThread.readBlock },
      { locationId, tillId, data, maxDocumentBytes },
      async (documents, till) => {
        const { checksum } = file;
        const encoded = encodeExportRows({ data, format, till, currencyCode, documents, checksum, maxDocumentBytes });
        if (encoded.rows === 0) return;
        file.writer.add(encoded);
        addToFile(file, encoded, till);
        task.freeUnusedBuffers();
        mainThread.reportProgress(report, file.rows);
      },
    );
  } catch (error) {
    if (!(error instanceof DocumentTooLargeError)) throw error;
    throw new EndedWithoutFileError({ outcome: "out of memory", tillId });
  }
  file.writtenTillIds.add(tillId);
  file.tillIds.push(tillId);
  if (file.rows > maxRows) throw new EndedWithoutFileError({ outcome: "too_many_rows" });
}

function addToFile(file: FileInProgress, encoded: EncodedExportRows, { businessDay }: ExportedTill): void {
  const { textBytes, checksum, rows, sums } = encoded;
  file.textBytes += textBytes;
  file.checksum = checksum;
  file.rows += rows;
  for (const [column, sum] of Object.entries(sums)) file.sums[column] = addMoneyAmounts(file.sums[column] ?? 0, sum);
  const { first, last } = file.days ?? { first: businessDay, last: businessDay };
  file.days = { first: businessDay < first ? businessDay : first, last: businessDay > last ? businessDay : last };
}
