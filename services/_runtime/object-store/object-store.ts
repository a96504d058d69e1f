import { pipeline, Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants, createBrotliDecompress } from "node:zlib";
import { Admission } from "../admission/admission.ts";
import { createFolderObjectStore } from "./folder-store.ts";
import { createS3ObjectStore, parseS3Url } from "./s3-store.ts";
import { ignoreObjectNotFound, type ObjectStore, ObjectStoreUnavailableError, toWebStream } from "./store-interface.ts";

export { ObjectNotFoundError, ObjectStoreUnavailableError } from "./store-interface.ts";

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** The end of the keys of compressed objects. The key tells how an object is stored, so both kinds can be mixed. */
const compressedKeySuffix = ".br";

/** Compresses a till to a nineteenth, in 4 ms per 1.3 MB. Quality 5 saves 8 % more and takes twice as long. */
const quality = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/** Each chunk is a task for another thread, so chunks of 16 KB, the default of Node.js, take 3 ms more per till. */
const toChunkSize = (expectedBytes: number) => Math.max(16 * 1024, Math.min(2 * 1024 * 1024, expectedBytes));
const toCompressionOptions = ({ byteLength }: Uint8Array) => ({
  params: quality,
  chunkSize: toChunkSize(Math.ceil(byteLength / 10)),
});
const toDecompressionOptions = ({ byteLength }: Uint8Array) => ({ chunkSize: toChunkSize(byteLength * 25) });

/** Compressing or decompressing this many bytes takes a tenth of a second or less. */
const maxSmallBytes = 4 * 1024 * 1024;
const largeObjects = new Admission({ perProcess: 1 });

/** Processes large objects one at a time, so that files can always be read and written in libuv's four threads. */
const runInPool = <T>(bytes: number, task: () => Promise<T>): Promise<T> =>
  bytes <= maxSmallBytes ? task() : largeObjects.run(task);

export function toCompressedObjectKey(key: string): string {
  return `${key}${compressedKeySuffix}`;
}

export function isCompressedObjectKey(key: string): boolean {
  return key.endsWith(compressedKeySuffix);
}

/** Returns a key that no other object has, for an object that is stored in the same form. */
export function addUniquePartToObjectKey(key: string, part: string): string {
  return isCompressedObjectKey(key)
    ? toCompressedObjectKey(`${key.slice(0, -compressedKeySuffix.length)}-${part}`)
    : `${key}-${part}`;
}

export type CompressingObjectStore = ReturnType<typeof createCompressingObjectStore>;

/** Creates an object store that compresses objects whose keys end in `.br` before they are stored in `store`. */
function createCompressingObjectStore({ getRange, ...store }: ObjectStore) {
  const toStored = async (key: string, bytes: Uint8Array): Promise<Uint8Array> =>
    isCompressedObjectKey(key)
      ? runInPool(bytes.byteLength, () => compress(bytes, toCompressionOptions(bytes)))
      : bytes;
  return {
    ...store,
    /** Returns the bytes that `put` would store, for `putStored`. */
    toStored,
    async put(key: string, bytes: Uint8Array): Promise<void> {
      await store.put(key, await toStored(key, bytes));
    },
    async get(key: string): Promise<Uint8Array> {
      const stored = await store.get(key);
      if (!isCompressedObjectKey(key)) return stored;
      return runInPool(stored.byteLength * 25, () => decompress(stored, toDecompressionOptions(stored))).catch(
        (error: unknown) => {
          throw createDamagedError(key, error);
        },
      );
    },
    async has(key: string): Promise<boolean> {
      return (await getRange(key, { start: 0, end: 1 }).catch(ignoreObjectNotFound)) !== undefined;
    },
    /** `size` is undefined for a compressed object. */
    async stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number | undefined }> {
      const stored = await store.stream(key);
      if (!isCompressedObjectKey(key)) return stored;
      const decompressor = createBrotliDecompress();
      // Errors of both streams reach the reader through the decompressor.
      pipeline(Readable.fromWeb(stored.body as NodeReadableStream<Uint8Array>), decompressor, () => {});
      const toReaderError = (error: unknown) =>
        error instanceof ObjectStoreUnavailableError ? error : createDamagedError(key, error);
      return { body: toWebStream(decompressor, toReaderError), size: undefined };
    },
    /** Returns an object as it is stored, with the value for the header `content-encoding`. */
    async streamStored(key: string) {
      const encoding: "br" | undefined = isCompressedObjectKey(key) ? "br" : undefined;
      return { ...(await store.stream(key)), encoding };
    },
    /** Returns a part of the bytes that `streamStored` returns. */
    getStoredRange: getRange,
    /** Stores bytes that `toStored` or, of this or another store, `streamStored` returned for the same key. */
    putStored: store.put,
  };
}

/** Returns the error for an object that cannot be decompressed. A retry would fail again. */
const createDamagedError = (key: string, cause: unknown) =>
  Object.assign(new Error(`the object ${key} is damaged`, { cause }), { name: "DamagedObjectError" });

/**
 * Creates the object store for a URL, without checking that it is usable. Compresses objects whose keys end in `.br`.
 * - `file:/absolute/folder`, which is created if it is missing
 * - `s3://bucket/prefix?endpoint=https://host&region=name&forcePathStyle=true`, with credentials in the variables AWS_*
 *
 * @throws `TypeError` for any other URL.
 */
export function createObjectStore(url: string): CompressingObjectStore {
  if (url.startsWith("file:/")) return createCompressingObjectStore(createFolderObjectStore(parseFolderUrl(url)));
  if (url.startsWith("s3://")) return createCompressingObjectStore(createS3ObjectStore(parseS3Url(url)));
  throw new TypeError("the URL of an object store must start with file:/ or s3://");
}

function parseFolderUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.search || parsed.hash)
    throw new TypeError("the file: URL of an object store must not have a query or a fragment");
  return fileURLToPath(parsed);
}
