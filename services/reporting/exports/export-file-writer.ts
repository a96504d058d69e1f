import { once } from "node:events";
import { createGzip } from "node:zlib";
import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import type { WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import {
  type EncodedExportRows,
  type ExportWorkerInput,
  type ExportWorkerOutput,
  encodeCsvHeader,
} from "./encode-export-rows.ts";
import { type EncodedParquetRowGroup, parquetHeader } from "./encode-parquet.ts";

export type ExportWorker = WorkerThreadPool<ExportWorkerInput, ExportWorkerOutput>;

/** Writes the bytes of one file. Only compressed bytes are in memory, and the rows of one row group of a Parquet file. */
export interface ExportFileWriter {
  /**
   * Returns whether the file has at least `maxBytes`, or 32 times as many bytes before compression, so that no file is much
   * larger after decompression.
   */
  isFull(maxBytes: number): boolean;
  add(encoded: EncodedExportRows): Promise<void>;
  /** Returns the bytes of the complete file. */
  finish(): Promise<Buffer>;
  /** Frees the memory of a file that is not needed. */
  discard(): void;
}

interface FileContent {
  data: BulkExportData;
  format: BulkExportFormat;
}

export function createExportFileWriter(worker: ExportWorker, { data, format }: FileContent): ExportFileWriter {
  if (format === "parquet") return createParquetWriter(worker, data);
  return createGzipWriter(format === "csv" ? encodeCsvHeader(data) : null);
}

const maxCompressionRatio = 32;

function createGzipWriter(header: Uint8Array | null): ExportFileWriter {
  const gzip = createGzip();
  const chunks: Buffer[] = [];
  let size = 0;
  gzip.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
  });
  let textBytes = 0;
  const write = async (bytes: Uint8Array) => {
    textBytes += bytes.byteLength;
    if (!gzip.write(bytes)) await once(gzip, "drain");
  };
  let isHeaderWritten = header === null;
  const writeHeader = async () => {
    if (isHeaderWritten || header === null) return;
    isHeaderWritten = true;
    await write(header);
  };
  return {
    isFull: (maxBytes) => size >= maxBytes || textBytes >= maxBytes * maxCompressionRatio,
    async add({ lines }) {
      await writeHeader();
      await write(lines);
    },
    async finish() {
      await writeHeader();
      const ended = once(gzip, "end");
      gzip.end();
      await ended;
      return Buffer.concat(chunks);
    },
    discard() {
      gzip.destroy();
      chunks.length = 0;
    },
  };
}

/** The maximum number of bytes of the rows, as JSON, in a row group. They are in memory until the row group is encoded. */
const maxRowGroupBytes = 4 * 1024 * 1024;

function createParquetWriter(worker: ExportWorker, data: BulkExportData): ExportFileWriter {
  const chunks: Uint8Array[] = [parquetHeader];
  let size = parquetHeader.byteLength;
  let rows = 0;
  let textBytes = 0;
  let lines: Uint8Array[] = [];
  let lineBytes = 0;
  const groups: Pick<EncodedParquetRowGroup, "row_groups" | "pendingIndexes"> = { row_groups: [], pendingIndexes: [] };
  const append = (bytes: Uint8Array) => {
    chunks.push(bytes);
    size += bytes.byteLength;
  };
  const encodeRowGroup = async () => {
    if (lineBytes === 0) return;
    const input = { task: "row group", data, lines: Buffer.concat(lines), offset: size } as const;
    lines = [];
    lineBytes = 0;
    const { bytes, ...group } = (await worker.run(input)) as EncodedParquetRowGroup;
    append(bytes);
    groups.row_groups.push(...group.row_groups);
    groups.pendingIndexes.push(...group.pendingIndexes);
  };
  return {
    isFull: (maxBytes) => size >= maxBytes || textBytes >= maxBytes * maxCompressionRatio,
    async add(encoded) {
      textBytes += encoded.lines.byteLength;
      lines.push(encoded.lines);
      lineBytes += encoded.lines.byteLength;
      rows += encoded.rows;
      if (lineBytes >= maxRowGroupBytes) await encodeRowGroup();
    },
    async finish() {
      await encodeRowGroup();
      append((await worker.run({ task: "footer", data, rows, offset: size, ...groups })) as Uint8Array);
      return Buffer.concat(chunks);
    },
    discard() {
      chunks.length = 0;
      lines = [];
    },
  };
}
