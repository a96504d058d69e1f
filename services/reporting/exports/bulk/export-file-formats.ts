import type { BulkExportFormat } from "@pragma/contracts/bulk-export";
import type { BulkExportData } from "@pragma/contracts/bulk-export-columns";
import { type EncodedExportRows, parseParquetLines } from "./encode-export-rows.ts";
import { createParquetEncoder } from "./encode-parquet.ts";

/**
 * The bytes of a file. The buffer is reused, because a new one would be freed only by the next full garbage collection.
 */
export class FileBuffer {
  #bytes: Uint8Array<ArrayBuffer>;
  #size = 0;

  constructor(buffer: ArrayBuffer) {
    this.#bytes = new Uint8Array(buffer);
  }

  get size(): number {
    return this.#size;
  }

  /** The buffer, of which the first `size` bytes are the file. It can be another one than at the beginning. */
  get bytes(): ArrayBuffer {
    return this.#bytes.buffer;
  }

  append(bytes: Uint8Array): void {
    const size = this.#size + bytes.byteLength;
    if (size > this.#bytes.byteLength) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#bytes.byteLength));
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#size);
    this.#size = size;
  }
}

/** Writes one file to a buffer. Only compressed bytes are in memory, and the rows of one row group of a Parquet file. */
export interface ExportFileWriter {
  add(encoded: EncodedExportRows): void;
  /** Completes the file, which has this text. The buffer then contains all its bytes. */
  finish(text: { bytes: number; checksum: number }): void;
}

/** Returns a writer that appends the bytes of the file to `buffer`. */
export function createExportFileWriter(file: {
  data: BulkExportData;
  format: BulkExportFormat;
  buffer: FileBuffer;
}): ExportFileWriter {
  return file.format === "parquet" ? createParquetWriter(file.data, file.buffer) : createGzipWriter(file.buffer);
}

/** The beginning of a gzip file without a name and time (RFC 1952), and the last block of DEFLATE, which is empty. */
const gzipHeader = Uint8Array.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const lastDeflateBlock = Uint8Array.from([3, 0]);

function createGzipWriter(buffer: FileBuffer): ExportFileWriter {
  buffer.append(gzipHeader);
  return {
    add: ({ lines }) => buffer.append(lines),
    finish({ bytes, checksum }) {
      buffer.append(lastDeflateBlock);
      const trailer = Buffer.alloc(8);
      trailer.writeUInt32LE(checksum, 0);
      trailer.writeUInt32LE(bytes % 2 ** 32, 4);
      buffer.append(trailer);
    },
  };
}

/** The bytes of rows, as JSON, after which a row group is encoded. Encoding needs many times as much memory. */
const rowGroupTextBytes = 512 * 1024;

function createParquetWriter(data: BulkExportData, buffer: FileBuffer): ExportFileWriter {
  const encoder = createParquetEncoder(data, (bytes) => buffer.append(bytes));
  let lines: Uint8Array[] = [];
  let lineBytes = 0;
  const writeRowGroup = () => {
    if (lineBytes === 0) return;
    encoder.writeRowGroup(parseParquetLines(lines));
    lines = [];
    lineBytes = 0;
  };
  return {
    add(encoded) {
      lines.push(encoded.lines);
      lineBytes += encoded.textBytes;
      if (lineBytes >= rowGroupTextBytes) writeRowGroup();
    },
    finish() {
      writeRowGroup();
      encoder.finish();
    },
  };
}
