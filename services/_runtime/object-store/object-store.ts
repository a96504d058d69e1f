import { fileURLToPath } from "node:url";
import { type CompressingObjectStore, createCompressingObjectStore } from "./compressed-store.ts";
import { createFolderObjectStore } from "./folder-store.ts";
import { createS3ObjectStore, parseS3Url } from "./s3-store.ts";

export type { CompressingObjectStore } from "./compressed-store.ts";
export { ObjectNotFoundError, ObjectStoreUnavailableError } from "./store-interface.ts";

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
