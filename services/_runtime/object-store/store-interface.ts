import type { Readable } from "node:stream";

/**
 * A store of JSON objects under keys such as `segment/segment`. Segments consist of `A-Z a-z 0-9 . _ -`, and a key has
 * at most 500 characters. Because keys can be file paths, a key must not be a folder of another key (`a` and `a/b`),
 * and keys must not differ only in case.
 *
 * Functions with a key throw `TypeError` for an invalid key. All functions except `close` throw
 * `ObjectStoreUnavailableError` when the store is unusable.
 */
export interface ObjectStore {
  /**
   * Stores an object. After this resolves, the object survives a crash. If the process crashes earlier, no partial
   * object remains. Storing the same bytes again is allowed.
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of an object. @throws `ObjectNotFoundError` */
  get(key: string): Promise<Uint8Array>;
  /**
   * Returns the bytes of an object from offset `start` to before offset `end`. Returns fewer bytes if the object ends
   * before `end`.
   *
   * @throws `ObjectNotFoundError`
   */
  getRange(key: string, range: ByteRange): Promise<Uint8Array>;
  /**
   * Returns an object as a stream, so that large objects can be sent without loading them into memory. The caller must
   * read `body` to its end or cancel it, because its file or connection stays open otherwise. `size` is in bytes.
   *
   * @throws `ObjectNotFoundError`
   */
  stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }>;
  /** Returns whether an object exists, without reading it. */
  has(key: string): Promise<boolean>;
  /** Deletes an object. Does nothing if the object does not exist. */
  delete(key: string): Promise<void>;
  /** Checks the store. Rejects with the reason if the store cannot be used. */
  check(): Promise<void>;
  /** Closes all connections. Requests in progress may fail. */
  close(): Promise<void>;
}

/** The bytes of an object from offset `start` to before offset `end`. */
export interface ByteRange {
  start: number;
  /** Greater than `start`. */
  end: number;
}

/** The error for a key that has no object. */
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

/**
 * The error for a store that currently cannot be used, for example because of the network, a 5xx response, a full or
 * failing disk, or rejected credentials. A retry can succeed later. `cause` is the original error.
 */
export class ObjectStoreUnavailableError extends Error {
  override readonly name = "ObjectStoreUnavailableError";
}

/** Maximum number of characters in a key or in the prefix of all keys. Together, they fit into S3's 1,024 bytes. */
const maxObjectKeyLength = 500;
/** Maximum number of characters in a segment: the maximum length of a file name on Linux and macOS. */
const maxSegmentLength = 255;
const segmentPattern = /^[A-Za-z0-9._-]+$/;

/**
 * Returns whether a text is a valid object key. Keys consist of segments of `A-Z a-z 0-9 . _ -`, separated by slashes.
 * A segment must not be `.` or `..`. A key has at most 500 characters, and a segment at most 255.
 */
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

/**
 * Converts a Node stream of bytes to a web stream. Reads the source only as fast as the web stream is read. Canceling
 * the web stream closes the source. `toReaderError` converts the errors of the source.
 */
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
