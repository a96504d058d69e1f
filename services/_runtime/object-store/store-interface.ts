import type { Readable } from "node:stream";

/**
 * Keeps whole objects, which are JSON, under keys: `segment/segment`, each of `A-Z a-z 0-9 . _ -`, at most 500 characters.
 * Any other key is a TypeError before any I/O. A key must not be a folder of another key (`a` and `a/b`), nor differ from
 * another only in case: a folder cannot hold both.
 * Every method rejects with ObjectStoreUnavailable when the store cannot be used now.
 */
export interface ObjectStore {
  /** Durable when it resolves: after a crash or power cut the object is there whole or not at all. Same key, same bytes: no error. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Throws ObjectNotFound. */
  get(key: string): Promise<Uint8Array>;
  /** For handing on to a client without holding it in memory: read `body` to its end or cancel it, else it stays open. Throws ObjectNotFound. `size` is in bytes. */
  stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }>;
  /** No error when absent. */
  delete(key: string): Promise<void>;
  /** Answers when the store can be used; rejects with why not. */
  check(): Promise<void>;
  /** Lets go of connections; requests under way may fail. */
  close(): Promise<void>;
}

/** There is no object under this key. */
export class ObjectNotFound extends Error {
  override readonly name = "ObjectNotFound";

  constructor(key: string) {
    super(`no object ${key}`);
  }
}

/** For what may be absent: resolves where the object is not there. */
export function ignoreObjectNotFound(error: unknown): void {
  if (!(error instanceof ObjectNotFound)) throw error;
}

/** The store cannot be used now (network, a server's 5xx, a full or failing disk, refused credentials); the same call may succeed later. `cause` says what failed. */
export class ObjectStoreUnavailable extends Error {
  override readonly name = "ObjectStoreUnavailable";
}

/** Leaves room for as long a prefix within the 1024 bytes that S3 allows. */
const maxObjectKeyLength = 500;
/** What Linux and macOS allow for one name. */
const maxSegmentLength = 255;
const segmentPattern = /^[A-Za-z0-9._-]+$/;

/** Whether a text is an object key: segments of `A-Z a-z 0-9 . _ -` joined by single slashes, none of them `.` or `..`. */
export function isObjectKey(text: string): boolean {
  return text.length <= maxObjectKeyLength && text.split("/").every(isSegment);
}

/** Throws a TypeError for what is not an object key. */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError(`not an object key: ${JSON.stringify(key.slice(0, maxObjectKeyLength))}`);
}

function isSegment(segment: string): boolean {
  return segmentPattern.test(segment) && segment.length <= maxSegmentLength && segment !== "." && segment !== "..";
}

/** The code of a system error (`ENOSPC`) or of S3 (`NoSuchKey`). */
export function getErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/**
 * The web stream of a Node stream of bytes, read only as fast as it is consumed. Cancelling it closes the source; a fault of
 * the source reaches the reader as what `translate` makes of it.
 */
export function toWebStream(source: Readable, translate: (error: unknown) => unknown): ReadableStream<Uint8Array> {
  // A fault between two reads would otherwise be an uncaught error event; the iterator hands it to the next read.
  source.on("error", () => {});
  const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next().catch((error: unknown) => {
          throw translate(error);
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
