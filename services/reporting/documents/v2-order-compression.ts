import { promisify } from "node:util";
import { deflate, deflateSync, inflate, inflateSync } from "node:zlib";
import { v2OrderDictionary } from "./v2-order-dictionary.ts";

const compress = promisify(deflate);
const decompress = promisify(inflate);

/** DEFLATE can refer to this many bytes before the current position, so only the end of a longer dictionary is used. */
const maxDictionaryBytes = 32 * 1024;

/**
 * Level 6, the default, saves 7 % of the bytes and takes a third longer. The default of `memLevel` saves nothing, but has
 * 112 KB more memory allocated and cleared for each order.
 */
const compressionOptions = { level: 3, memLevel: 5, chunkSize: 4 * 1024 };

/**
 * The number of bytes that are decompressed at a time. A V2 response is at most three times as long as the V1 response,
 * with few exceptions, so that most are decompressed in one step, which is faster and copies nothing.
 */
const minChunkBytes = 16 * 1024;
const maxChunkBytes = 256 * 1024;
const usualSizeRatio = 3;

/**
 * Larger input is compressed and decompressed in libuv's pool, so that it does not block the event loop. For an order of
 * usual size, another thread would take more CPU time than the compression.
 */
const maxSynchronousTextBytes = 64 * 1024;
const maxSynchronousCompressedBytes = 8 * 1024;

/**
 * Compresses the V2 response of an order in zlib's format. The V1 response is part of the preset dictionary, because both
 * have most names and values in common, so that a tenth is left.
 */
export async function compressV2Order(v2: string, { v1 }: { v1: string }): Promise<Uint8Array> {
  return v2.length <= maxSynchronousTextBytes ? compressV2OrderSync(v2, { v1 }) : compress(v2, toOptions(v1));
}

/** Compresses as `compressV2Order` does, in the calling thread. Returns bytes in a buffer of their own. */
export function compressV2OrderSync(v2: string, { v1 }: { v1: string }): Uint8Array {
  return new Uint8Array(deflateSync(v2, toOptions(v1)));
}

const toOptions = (v1: string) => ({ ...compressionOptions, dictionary: buildDictionary(Buffer.from(v1)) });

/**
 * Returns the V2 response that `compressV2Order` compressed.
 *
 * @throws Error, for which `isTooLargeV2OrderError` returns true when the V2 response is larger than `maxBytes`.
 */
export async function decompressV2Order(
  compressed: Uint8Array,
  { v1, maxBytes }: { v1: Uint8Array; maxBytes?: number },
): Promise<Uint8Array> {
  return compressed.byteLength <= maxSynchronousCompressedBytes
    ? decompressV2OrderSync(compressed, { v1, maxBytes })
    : decompress(compressed, toInflateOptions({ v1, maxBytes }));
}

/** Decompresses as `decompressV2Order` does, in the calling thread. */
export function decompressV2OrderSync(
  compressed: Uint8Array,
  { v1, maxBytes }: { v1: Uint8Array; maxBytes?: number | undefined },
): Uint8Array {
  return inflateSync(compressed, { ...toInflateOptions({ v1, maxBytes }), dictionary: buildTemporaryDictionary(v1) });
}

function toInflateOptions({ v1, maxBytes }: { v1: Uint8Array; maxBytes: number | undefined }) {
  const chunkSize = Math.max(minChunkBytes, Math.min(maxChunkBytes, usualSizeRatio * v1.byteLength));
  return { dictionary: buildDictionary(v1), chunkSize, maxOutputLength: maxBytes };
}

export function isTooLargeV2OrderError(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

/** The V1 response is at the end, where it is used in full even if it is long, and where references to it are short. */
function buildDictionary(v1: Uint8Array): Uint8Array {
  return Buffer.concat([commonDictionary, v1]).subarray(-maxDictionaryBytes);
}

const commonDictionary = Buffer.from(v2OrderDictionary);

const scratch = Buffer.alloc(maxDictionaryBytes);
commonDictionary.copy(scratch);

/** Returns the same as `buildDictionary` in memory that the next call overwrites, so that nothing is allocated. */
function buildTemporaryDictionary(v1: Uint8Array): Uint8Array {
  const end = commonDictionary.byteLength + v1.byteLength;
  if (end > maxDictionaryBytes) return buildDictionary(v1);
  scratch.set(v1, commonDictionary.byteLength);
  return scratch.subarray(0, end);
}
