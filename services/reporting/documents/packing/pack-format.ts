import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import {
  brotliCompress,
  brotliDecompress,
  brotliDecompressSync,
  constants,
  createBrotliCompress,
  createBrotliDecompress,
} from "node:zlib";

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** Packed tills are written once and kept for years, so they are compressed better than bodies that were just pushed. */
const quality = 9;

/** The limits of a block of orders. A larger block compresses better, and a smaller one is read faster. */
export const maxOrdersPerBlock = 150;
export const maxBlockTextBytes = 2 * 1024 * 1024;

const decompressedChunkBytes = 128 * 1024;
/** The V1 orders of most blocks have fewer bytes, and are decompressed at once. */
const decompressedV1Bytes = 512 * 1024;

/** No till can have larger responses. A block of a damaged object could exhaust the memory. */
const maxDecodedBytes = 128 * 1024 * 1024;
const maxSizesLineBytes = 1024 * 1024;

/** The number of bytes of the checksum at the end of each block. Brotli itself does not detect changed bytes. */
const checksumBytes = 16;

/** Where a block is. Its checksum includes this, so that a block that was read from another place is not accepted. */
export interface BlockPlace {
  objectKey: string;
  block: number;
}

function computeBlockChecksum(compressed: Uint8Array, { objectKey, block }: BlockPlace): Buffer {
  const hash = createHash("sha256").update(`${objectKey} ${block}\n`).update(compressed);
  return hash.digest().subarray(0, checksumBytes);
}

/** Returns a compressed block with its checksum, as it is stored. */
export function addBlockChecksum(compressed: Uint8Array, place: BlockPlace): Buffer {
  return Buffer.concat([compressed, computeBlockChecksum(compressed, place)]);
}

/** Returns a compressed block without its checksum. @throws `DamagedBlockError` if the stored bytes are not this block. */
export function verifyBlockChecksum(stored: Uint8Array, place: BlockPlace): Uint8Array {
  const compressed = stored.subarray(0, Math.max(0, stored.byteLength - checksumBytes));
  if (!computeBlockChecksum(compressed, place).equals(stored.subarray(compressed.byteLength)))
    throw new DamagedBlockError(place);
  return compressed;
}

/** The error for bytes of the object store that differ from those that were stored. */
export class DamagedBlockError extends Error {
  override readonly name = "DamagedBlockError";

  constructor({ objectKey, block }: BlockPlace) {
    super(`block ${block} of the object ${objectKey} is damaged`);
  }
}

/** The JSON texts of an order: the responses of both API versions. */
export interface PackedOrderTexts {
  v1: Buffer;
  v2: Buffer;
}

/** The JSON texts of a report, as in the columns of `reports`. */
export interface PackedReportTexts {
  v2: string;
  v0: string;
  accountingData: string;
  finalized: string;
}

/**
 * Encodes texts as a block: a line with the sizes of the texts in bytes as a JSON array, then the texts. The block is
 * compressed by Brotli. `addBlockChecksum` completes it.
 *
 * The compressor is flushed after the line and the `first` texts, so that these can be decompressed from the first `end`
 * bytes.
 */
async function encodeBlock(texts: Buffer[], first: number): Promise<{ bytes: Buffer; end: number }> {
  const line = Buffer.from(`${JSON.stringify(texts.map((text) => text.byteLength))}\n`);
  const start = Buffer.concat([line, ...texts.slice(0, first)]);
  const rest = Buffer.concat(texts.slice(first));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    // Without the size, flushing would make the block 3 % larger.
    [constants.BROTLI_PARAM_SIZE_HINT]: start.byteLength + rest.byteLength,
  };
  const compressor = createBrotliCompress({ params });
  compressor.write(start);
  compressor.flush();
  compressor.end(rest);
  const [bytes, startAlone] = await Promise.all([
    buffer(compressor),
    compress(start, { params, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  ]);
  const end = startAlone.byteLength;
  const [decodedStart, decoded] = await Promise.all([
    decompressStart(bytes, end),
    decompress(bytes, { chunkSize: decompressedChunkBytes }),
  ]);
  const isEqual =
    start.equals(decoded.subarray(0, start.byteLength)) && rest.equals(decoded.subarray(start.byteLength));
  if (!isEqual || !start.equals(decodedStart)) throw new Error("A block was not compressed correctly.");
  return { bytes, end };
}

/** Decompresses the first `end` bytes of a block, after which its compressor was flushed. */
function decompressStart(block: Uint8Array, end: number): Promise<Buffer> {
  return decompress(block.subarray(0, end), {
    finishFlush: constants.BROTLI_OPERATION_FLUSH,
    chunkSize: decompressedV1Bytes,
    maxOutputLength: maxSizesLineBytes + maxDecodedBytes,
  });
}

/** Returns all texts of a block. @throws Error when the block is damaged. */
async function decodeBlock(block: Uint8Array): Promise<Buffer[]> {
  return splitTexts(await decompress(block, wholeBlockOptions));
}

const wholeBlockOptions = {
  chunkSize: decompressedChunkBytes,
  maxOutputLength: maxSizesLineBytes + maxDecodedBytes,
};

/**
 * Returns the V2 responses of a block, decoded in the calling worker thread, so that the memory for decompression is freed
 * with the objects of the thread.
 *
 * @throws Error when the block is damaged.
 */
export function decodeV2ResponsesSync(block: Uint8Array, kind: "report" | "orders"): Buffer[] {
  const texts = splitTexts(brotliDecompressSync(block, wholeBlockOptions));
  return kind === "report" ? texts.slice(0, 1) : texts.slice(texts.length / 2);
}

/** Returns the first `count` texts of a decompressed block; by default all. */
function splitTexts(bytes: Buffer, count?: number): Buffer[] {
  const line = readSizes(bytes);
  if (!line) throw new Error("A packed block has no sizes.");
  let end = line.end;
  return line.sizes.slice(0, count).map((size) => {
    end += size;
    if (end > bytes.byteLength) throw new Error("A packed block ends before its texts.");
    return bytes.subarray(end - size, end);
  });
}

/** Returns the sizes of the texts of a block, and where the texts begin; undefined if the line is not complete yet. */
function readSizes(bytes: Buffer): { sizes: number[]; end: number } | undefined {
  const lineEnd = bytes.indexOf("\n");
  if (lineEnd < 0) return undefined;
  return { sizes: JSON.parse(bytes.toString("utf8", 0, lineEnd)), end: lineEnd + 1 };
}

export async function encodeReportBlock({ v2, v0, accountingData, finalized }: PackedReportTexts): Promise<Buffer> {
  const texts = [v2, v0, accountingData, finalized].map((text) => Buffer.from(text));
  return (await encodeBlock(texts, texts.length)).bytes;
}

export async function decodeReportBlock(block: Uint8Array): Promise<PackedReportTexts> {
  const [v2, v0, accountingData, finalized] = await decodeBlock(block);
  if (!v2 || !v0 || !accountingData || !finalized) throw new Error("A packed report is incomplete.");
  return { v2: `${v2}`, v0: `${v0}`, accountingData: `${accountingData}`, finalized: `${finalized}` };
}

/**
 * The V1 responses come first, so that reading these, as lists do, need not decompress the V2 responses. `v1End` is the
 * number of bytes from which they can be decompressed without the others.
 */
export async function encodeOrderBlock(orders: PackedOrderTexts[]): Promise<{ bytes: Buffer; v1End: number }> {
  const texts = [...orders.map(({ v1 }) => v1), ...orders.map(({ v2 }) => v2)];
  const { bytes, end: v1End } = await encodeBlock(texts, orders.length);
  return { bytes, v1End };
}

/** Returns the V1 responses of the first `count` orders of a block. `v1End` is that of `encodeOrderBlock`. */
export async function decodeV1Orders(
  block: Uint8Array,
  { v1End, count }: { v1End: number; count: number },
): Promise<Buffer[]> {
  return splitTexts(await decompressStart(block, v1End), count);
}

/** A response in a block. `order` is the number of the order in the block; null for the report. */
interface PackedText {
  order: number | null;
  /** `v1` or `v2` of an order, and `v0` or `v2` of a report. */
  body: string;
}

/**
 * Returns one text of a block; or its size in bytes if it is larger than `maxBytes`. Decompresses the block only up to the
 * end of the text, and keeps no earlier ones.
 *
 * @throws Error when the block is damaged.
 */
export async function decodeText(
  block: Uint8Array,
  { order, body }: PackedText,
  maxBytes: number,
): Promise<Buffer | number> {
  const decompressor = createBrotliDecompress({ chunkSize: decompressedChunkBytes });
  decompressor.end(block);
  const chunks: Buffer[] = [];
  let length = 0;
  /** The number of bytes before `chunks`, which were not kept. */
  let skipped = 0;
  let range: { start: number; end: number } | undefined;
  for await (const chunk of decompressor as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.byteLength;
    // Chunks are large, so the line of sizes is in the first one, or in few.
    const line = range ? undefined : readSizes(Buffer.concat(chunks));
    if (line) {
      const number = order === null ? Number(body === "v0") : order + (body === "v2" ? line.sizes.length / 2 : 0);
      const size = line.sizes[number] ?? 0;
      if (size > maxBytes) return size;
      const start = line.sizes.slice(0, number).reduce((sum, each) => sum + each, line.end);
      range = { start, end: start + size };
    }
    if (!range && length > maxSizesLineBytes) throw new Error("A packed block has no sizes.");
    if (range && range.end > maxDecodedBytes) throw new Error("A packed block has texts that are too large.");
    for (let first = chunks[0]; range && first && skipped + first.byteLength <= range.start; first = chunks[0]) {
      skipped += first.byteLength;
      chunks.shift();
    }
    if (range && length >= range.end) {
      const text = Buffer.concat(chunks).subarray(range.start - skipped, range.end - skipped);
      // A small text is copied, so that the decompressed bytes around it need not stay in memory.
      return text.byteLength < decompressedChunkBytes ? Buffer.from(text) : text;
    }
  }
  throw new Error("A packed block ends before its texts.");
}

export async function decodeOrderBlock(block: Uint8Array): Promise<PackedOrderTexts[]> {
  const texts = await decodeBlock(block);
  return Array.from({ length: texts.length / 2 }, (_, index) => {
    const [v1, v2] = [texts[index], texts[texts.length / 2 + index]];
    if (!v1 || !v2) throw new Error("A packed order is incomplete.");
    return { v1, v2 };
  });
}
