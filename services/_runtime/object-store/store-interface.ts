import type { Readable } from "node:stream";

/**
 * Stores JSON objects under keys such as `segment/segment`, with segments of `A-Z a-z 0-9 . _ -` and at most 500
 * characters. A key must not be a folder of another key (`a` and `a/b`), nor differ from another only in case, because
 * a folder cannot hold both.
 *
 * @throws `TypeError` for any other key; `ObjectStoreUnavailable` when the store cannot be used at the moment.
 */
export interface ObjectStore {
  /** Stores an object durably: a crash leaves it whole or absent. Storing the same bytes again is no error. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the bytes of an object. @throws `ObjectNotFound` */
  get(key: string): Promise<Uint8Array>;
  /**
   * Returns an object as a stream, to send it without holding it in memory. Read `body` to its end or cancel it,
   * otherwise it stays open. `size` is in bytes.
   *
   * @throws `ObjectNotFound`
   */
  stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }>;
  /** Deletes an object; an absent one is no error. */
  delete(key: string): Promise<void>;
  /** Resolves when the store can be used; rejects with the reason otherwise. */
  check(): Promise<void>;
  /** Closes connections; running requests may fail. */
  close(): Promise<void>;
}

/** Thrown when no object has this key. */
export class ObjectNotFound extends Error {
  override readonly name = "ObjectNotFound";

  constructor(key: string) {
    super(`no object ${key}`);
  }
}

/** An error handler for objects that may be absent: returns undefined for `ObjectNotFound`, rethrows other errors. */
export function ignoreObjectNotFound(error: unknown): undefined {
  if (!(error instanceof ObjectNotFound)) throw error;
}

/**
 * Thrown when the store cannot be used at the moment (network, a 5xx, a full or failing disk, rejected credentials).
 * The same call may succeed later. `cause` is the original error.
 */
export class ObjectStoreUnavailable extends Error {
  override readonly name = "ObjectStoreUnavailable";
}

/** Leaves room for an equally long prefix within the 1024 bytes that S3 allows. */
const maxObjectKeyLength = 500;
/** The maximum length of a file name on Linux and macOS. */
const maxSegmentLength = 255;
const segmentPattern = /^[A-Za-z0-9._-]+$/;

/** Whether a text is an object key: segments of `A-Z a-z 0-9 . _ -` between slashes, none of them `.` or `..`. */
export function isObjectStoreKey(text: string): boolean {
  return text.length <= maxObjectKeyLength && text.split("/").every(isSegment);
}

/** @throws `TypeError` when a text is not an object key. */
export function assertObjectStoreKey(key: string): void {
  if (!isObjectStoreKey(key))
    throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, maxObjectKeyLength))}`);
}

function isSegment(segment: string): boolean {
  return segmentPattern.test(segment) && segment.length <= maxSegmentLength && segment !== "." && segment !== "..";
}

/** Returns the code of a system error (`ENOSPC`) or of an S3 error (`NoSuchKey`). */
export function getSystemOrS3ErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/**
 * Returns a web stream of a Node stream of bytes that is read only as fast as it is consumed. Canceling it closes the
 * source; the reader receives errors of the source converted by `toReaderError`.
 */
export function toWebStream(source: Readable, toReaderError: (error: unknown) => unknown): ReadableStream<Uint8Array> {
  // Prevents an uncaught error event between two reads; the iterator passes the error to the next read.
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
