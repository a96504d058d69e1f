import { fileURLToPath } from "node:url";
import { openFolderStore } from "./folder-store.ts";
import { openS3Store } from "./s3-store.ts";
import { parseS3Url } from "./s3-url.ts";

export { ObjectNotFound, ObjectStoreUnavailable } from "./object-errors.ts";

/**
 * Keeps whole objects of bytes under keys: `segment/segment`, each of `A-Z a-z 0-9 . _ -`, at most 500 characters.
 * Any other key is a TypeError before any I/O. A key must not be a folder of another key (`a` and `a/b`), nor differ from
 * another only in case: a folder cannot hold both.
 * Every method rejects with ObjectStoreUnavailable when the store cannot be used now.
 */
export interface ObjectStore {
  /** Durable when it resolves: after a crash or power cut the object is there whole or not at all. Same key, same bytes: no error. The content type is kept where the store can (S3). */
  put(key: string, bytes: Uint8Array, options?: { contentType?: string }): Promise<void>;
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

/**
 * Opens the store that a URL names, without waiting for it to be usable:
 * - `file:/absolute/folder` (made when missing);
 * - `s3://bucket/prefix?endpoint=https://host&region=name&forcePathStyle=true` (all but the bucket may be left out), with the credentials of the usual AWS_* environment.
 *
 * Throws a TypeError when the URL is neither.
 */
export function openObjectStore(url: string): ObjectStore {
  if (url.startsWith("file:/")) return openFolderStore(folderOf(url));
  if (url.startsWith("s3://")) return openS3Store(parseS3Url(url));
  throw new TypeError("an object store's URL starts with file:/ or s3://");
}

function folderOf(url: string): string {
  const parsed = new URL(url);
  if (parsed.search || parsed.hash) throw new TypeError("a file: object store's URL has no query and no fragment");
  return fileURLToPath(parsed);
}
