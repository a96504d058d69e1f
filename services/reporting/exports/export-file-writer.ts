import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import type { WorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import type { EncodedExportRows, ExportWorkerInput, ExportWorkerOutput } from "./encode-export-rows.ts";
import { type EncodedParquetRowGroup, parquetHeader } from "./encode-parquet.ts";

export type ExportWorker = WorkerThreadPool<ExportWorkerInput, ExportWorkerOutput>;

/**
 * A buffer for one file after the other. It is reused, because the memory of a new buffer for each file would be freed
 * only by the next full garbage collection.
 */
export class FileBuffer {
  #bytes: Buffer;
  #size = 0;

  /** @param expectedBytes the size that most files have. */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.alloc(expectedBytes);
  }

  get size(): number {
    return this.#size;
  }

  /** The bytes of the file, until the next file begins. */
  get content(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }

  append(bytes: Uint8Array): void {
    const size = this.#size + bytes.byteLength;
    if (size > this.#bytes.byteLength) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#bytes.byteLength));
      larger.set(this.content);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#size);
    this.#size = size;
  }

  clear(): void {
    this.#size = 0;
  }
}

/** Writes one file to a buffer. Only compressed bytes are in memory, and the rows of one row group of a Parquet file. */
export interface ExportFileWriter {
  /** The CRC-32 of the text so far, which the thread needs to continue it; undefined at the beginning of the file. */
  readonly checksum: number | undefined;
  /**
   * Returns whether the file has at least `maxBytes`, or 32 times as many bytes before compression, so that no file is much
   * larger after decompression.
   */
  isFull(maxBytes: number): boolean;
  add(encoded: EncodedExportRows): Promise<void>;
  /** Completes the file. The buffer then contains all its bytes. */
  finish(): Promise<void>;
}

interface FileContent {
  data: BulkExportData;
  format: BulkExportFormat;
  /** Receives the bytes of the file. What it contains before is removed. */
  buffer: FileBuffer;
}

export function createExportFileWriter(worker: ExportWorker, { data, format, buffer }: FileContent): ExportFileWriter {
  buffer.clear();
  if (format === "parquet") return createParquetWriter(worker, data, buffer);
  return createGzipWriter(buffer);
}

const maxCompressionRatio = 32;

const isFileFull = (file: { bytes: number; textBytes: number }, maxBytes: number) =>
  file.bytes >= maxBytes || file.textBytes >= maxBytes * maxCompressionRatio;

/** The beginning of a gzip file without a name and time (RFC 1952), and the last block of DEFLATE, which is empty. */
const gzipHeader = Uint8Array.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const lastDeflateBlock = Uint8Array.from([3, 0]);

/** Joins the compressed lines of the thread to one gzip file. */
function createGzipWriter(buffer: FileBuffer): ExportFileWriter {
  buffer.append(gzipHeader);
  let textBytes = 0;
  let checksum = 0;
  return {
    get checksum() {
      return textBytes === 0 ? undefined : checksum;
    },
    isFull: (maxBytes) => isFileFull({ bytes: buffer.size, textBytes }, maxBytes),
    async add(encoded) {
      buffer.append(encoded.lines);
      textBytes += encoded.textBytes;
      checksum = encoded.checksum;
    },
    async finish() {
      buffer.append(lastDeflateBlock);
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(checksum, 0);
      trailer.writeUInt32LE(textBytes % 2 ** 32, 4);
      buffer.append(trailer);
    },
  };
}

/**
 * The number of bytes of the rows, as JSON, after which a row group is encoded. The thread needs many times as much memory
 * for them.
 */
const rowGroupTextBytes = 1024 * 1024;

function createParquetWriter(worker: ExportWorker, data: BulkExportData, buffer: FileBuffer): ExportFileWriter {
  buffer.append(parquetHeader);
  let rows = 0;
  let textBytes = 0;
  let lines: Uint8Array[] = [];
  let lineBytes = 0;
  const groups: Pick<EncodedParquetRowGroup, "row_groups" | "pendingIndexes"> = { row_groups: [], pendingIndexes: [] };
  const encodeRowGroup = async () => {
    if (lineBytes === 0) return;
    const input = { task: "row group", data, lines, offset: buffer.size } as const;
    lines = [];
    lineBytes = 0;
    const { bytes, ...group } = (await worker.run(input)) as EncodedParquetRowGroup;
    buffer.append(bytes);
    groups.row_groups.push(...group.row_groups);
    groups.pendingIndexes.push(...group.pendingIndexes);
  };
  return {
    checksum: undefined,
    isFull: (maxBytes) => isFileFull({ bytes: buffer.size, textBytes }, maxBytes),
    async add(encoded) {
      textBytes += encoded.textBytes;
      lines.push(encoded.lines);
      lineBytes += encoded.textBytes;
      rows += encoded.rows;
      if (lineBytes >= rowGroupTextBytes) await encodeRowGroup();
    },
    async finish() {
      await encodeRowGroup();
      buffer.append((await worker.run({ task: "footer", data, rows, offset: buffer.size, ...groups })) as Uint8Array);
    },
  };
}
