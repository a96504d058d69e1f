import { promisify } from "node:util";
import { deflate, deflateSync, inflate, inflateSync } from "node:zlib";
import { v2OrderDictionary } from "./v2-order-dictionary.ts";

const compress = promisify(deflate);
const decompress = promisify(inflate);

/** DEFLATE can refer to this many bytes before the current position, so only the end of a longer dictionary is used. */
const maxDictionaryBytes = 32 * 1024;

/**
 * Larger input is compressed and decompressed in a thread of libuv's pool, so that it does not block the event loop. For
 * an order of usual size, which takes 0.1 ms, using another thread would take more CPU time than the compression.
 */
const maxSynchronousTextBytes = 64 * 1024;
const maxSynchronousCompressedBytes = 8 * 1024;

/**
 * Compresses the V2 response of an order in zlib's format. The V1 response of the order is part of the preset dictionary,
 * because both responses have most names and values in common. For the orders of a busy shift, the result has a tenth of
 * the size of the V2 response.
 */
export async function compressV2Order(v2: string, { v1 }: { v1: string }): Promise<Buffer> {
  const options = { dictionary: buildDictionary(Buffer.from(v1)) };
  return v2.length <= maxSynchronousTextBytes ? deflateSync(v2, options) : compress(v2, options);
}

/** Returns the columns `v2` and `v2_deflated` of an order. One of them has the response, and the other is null. */
export async function toV2OrderColumns(
  v2: string,
  { v1, isCompressed }: { v1: string; isCompressed: boolean },
): Promise<{ v2: string | null; v2Deflated: Buffer | null }> {
  return isCompressed ? { v2: null, v2Deflated: await compressV2Order(v2, { v1 }) } : { v2, v2Deflated: null };
}

/**
 * Returns the V2 response that `compressV2Order` compressed.
 *
 * @throws Error when the V1 response is not the one with which it was compressed, or when the bytes are damaged.
 */
export async function decompressV2Order(compressed: Uint8Array, { v1 }: { v1: Uint8Array }): Promise<Uint8Array> {
  const options = { dictionary: buildDictionary(v1) };
  return compressed.byteLength <= maxSynchronousCompressedBytes
    ? inflateSync(compressed, options)
    : decompress(compressed, options);
}

/** The V1 response is at the end, where it is used in full even if it is long, and where references to it are short. */
function buildDictionary(v1: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(v2OrderDictionary), v1]).subarray(-maxDictionaryBytes);
}
