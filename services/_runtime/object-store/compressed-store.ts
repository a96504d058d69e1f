import { pipeline, Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants, createBrotliDecompress } from "node:zlib";
import { type ObjectStore, ObjectStoreUnavailableError, toWebStream } from "./store-interface.ts";

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** The end of the keys of compressed objects. The key tells how an object is stored, so both kinds can be mixed. */
const compressedKeySuffix = ".br";

/**
 * Quality 5 compresses the JSON of a till to a twentieth in 11 ms per 1.4 MB. Higher qualities save less than a tenth
 * more and take several times as long.
 */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
/** With Node.js's default of 16 KB, each chunk of a till would be a task for another thread, which takes 3 ms more per till. */
const decompressionOptions = { chunkSize: 128 * 1024 };

/** Returns the key under which an object is stored in compressed form. */
export function toCompressedObjectKey(key: string): string {
  return `${key}${compressedKeySuffix}`;
}

/** Returns whether the object with this key is stored in compressed form. */
export function isCompressedObjectKey(key: string): boolean {
  return key.endsWith(compressedKeySuffix);
}

/** Returns a key that no other object has, for an object that is stored in the same form. */
export function addUniquePartToObjectKey(key: string, part: string): string {
  return isCompressedObjectKey(key)
    ? toCompressedObjectKey(`${key.slice(0, -compressedKeySuffix.length)}-${part}`)
    : `${key}-${part}`;
}

/** An object store that compresses objects whose keys end in `.br`. */
export interface CompressingObjectStore extends Omit<ObjectStore, "stream" | "getRange"> {
  /** Returns an object as a stream, as `ObjectStore.stream` does. `size` is undefined for a compressed object. */
  stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number | undefined }>;
  /**
   * Returns an object as it is stored. `encoding` is the value for the header `content-encoding`, or undefined for an
   * object that is not compressed. `size` is the number of stored bytes.
   */
  streamStored(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number; encoding: "br" | undefined }>;
  /** Returns a part of the bytes that `streamStored` returns. */
  getStoredRange: ObjectStore["getRange"];
  /** Stores an object whose bytes `streamStored` returned for the same key, in this store or in another one. */
  putStored(key: string, stored: Uint8Array): Promise<void>;
}

/** Creates an object store that compresses objects whose keys end in `.br` before they are stored in `store`. */
export function createCompressingObjectStore({ getRange, ...store }: ObjectStore): CompressingObjectStore {
  return {
    ...store,
    async put(key, bytes) {
      await store.put(key, isCompressedObjectKey(key) ? await compress(bytes, brotliOptions) : bytes);
    },
    async get(key) {
      const stored = await store.get(key);
      if (!isCompressedObjectKey(key)) return stored;
      return decompress(stored, decompressionOptions).catch((error: unknown) => {
        throw new DamagedObjectError(key, error);
      });
    },
    async stream(key) {
      const stored = await store.stream(key);
      if (!isCompressedObjectKey(key)) return stored;
      const decompressor = createBrotliDecompress();
      // Errors of both streams reach the reader through the decompressor.
      pipeline(Readable.fromWeb(stored.body as NodeReadableStream<Uint8Array>), decompressor, () => {});
      const toReaderError = (error: unknown) =>
        error instanceof ObjectStoreUnavailableError ? error : new DamagedObjectError(key, error);
      return { body: toWebStream(decompressor, toReaderError), size: undefined };
    },
    async streamStored(key) {
      return { ...(await store.stream(key)), encoding: isCompressedObjectKey(key) ? "br" : undefined };
    },
    getStoredRange: getRange,
    putStored: (key, stored) => store.put(key, stored),
  };
}

/** The error for an object that cannot be decompressed. A retry would fail again. */
class DamagedObjectError extends Error {
  override readonly name = "DamagedObjectError";

  constructor(key: string, cause: unknown) {
    super(`the object ${key} is damaged`, { cause });
  }
}
