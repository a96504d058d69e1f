import type { Readable } from "node:stream";

/**
 * A store of JSON objects under keys such as `segment/segment`, see `isObjectStoreKey`. Because keys can be file paths,
 * a key must not be a folder of another key (`a` and `a/b`), and keys must not differ only in case. Functions throw
 * `TypeError` for an invalid key, and, except `close`, `ObjectStoreUnavailableError` when the store is unusable.
 */
export interface ObjectStore {
  /** Once this resolves, the object survives a crash. Before, no partial object remains. Bytes can be stored again. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of an object. @throws `ObjectNotFoundError` */
  get(key: string): Promise<Uint8Array>;
  /** Returns fewer bytes if the object ends before `end`. @throws `ObjectNotFoundError` */
  getRange(key: string, range: { start: number; end: number }): Promise<Uint8Array>;
  /** Read `body` to its end or cancel it, because its file or connection stays open. @throws `ObjectNotFoundError` */
  stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }>;
  /** Deletes an object. Does nothing if the object does not exist. */
  delete(key: string): Promise<void>;
  /** Checks the store. Rejects with the reason if the store cannot be used. */
  check(): Promise<void>;
  /** Closes all connections. Requests in progress may fail. */
  close(): Promise<void>;
}

export class ObjectNotFoundError extends Error {
  override readonly name = "ObjectNotFoundError";

  constructor(key: string) {
    super(`no object ${key}`);
  }
}

/** Returns undefined for `ObjectNotFoundError` and rethrows all other errors. Use it as a `catch` handler. */
export function ignoreObjectNotFound(error: unknown): undefined {
  if (!(error instanceof ObjectNotFoundError)) throw error;
}

/** The error for a store that cannot be used, such as a network error. A retry can succeed later. */
export class ObjectStoreUnavailableError extends Error {
  override readonly name = "ObjectStoreUnavailableError";
}

/** Maximum number of characters in a key or in the prefix of all keys. Together, they fit into S3's 1,024 bytes. */
const maxObjectKeyLength = 500;
/** Maximum number of characters in a segment: the maximum length of a file name on Linux and macOS. */
const maxSegmentLength = 255;
const segmentPattern = /^[A-Za-z0-9._-]+$/;

/** Keys have segments of `A-Z a-z 0-9 . _ -`, except `.` and `..`, that are separated by slashes. */
export function isObjectStoreKey(text: string): boolean {
  return text.length <= maxObjectKeyLength && text.split("/").every(isSegment);
}

/** @throws `TypeError` if a text is not a valid object key. */
export function assertObjectStoreKey(key: string): void {
  if (!isObjectStoreKey(key))
    throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, maxObjectKeyLength))}`);
}

function isSegment(segment: string): boolean {
  return segmentPattern.test(segment) && segment.length <= maxSegmentLength && segment !== "." && segment !== "..";
}

/** Returns the code of a system error (such as `ENOSPC`), or the name of any other error (such as S3's `NoSuchKey`). */
export function getSystemOrS3ErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Converts a Node stream to a web stream, which reads it no faster than it is read, and closes it when canceled. */
export function toWebStream(source: Readable, toReaderError: (error: unknown) => unknown): ReadableStream<Uint8Array> {
  // Prevents an uncaught error event between two reads. The next read still rejects with the error.
  source.on("error", () => {});
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch((error: unknown) => {
          throw toReaderError(error);
        });
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
