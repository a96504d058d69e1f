import { fileURLToPath } from "node:url";
import { createFolderObjectStore } from "./folder-store.ts";
import { createS3ObjectStore, parseS3Url } from "./s3-store.ts";
import type { ObjectStore } from "./store-interface.ts";

export { ObjectNotFoundError, type ObjectStore, ObjectStoreUnavailableError } from "./store-interface.ts";

/**
 * Creates the object store for a URL, without checking that the store is usable:
 * - `file:/absolute/folder`: a folder, which is created if it is missing;
 * - `s3://bucket/prefix?endpoint=https://host&region=name&forcePathStyle=true`: a bucket. Only the bucket is required.
 *   The credentials are read from the standard AWS_* environment variables.
 *
 * @throws `TypeError` for any other URL.
 */
export function createObjectStore(url: string): ObjectStore {
  if (url.startsWith("file:/")) return createFolderObjectStore(parseFolderUrl(url));
  if (url.startsWith("s3://")) return createS3ObjectStore(parseS3Url(url));
  throw new TypeError("the URL of an object store must start with file:/ or s3://");
}

function parseFolderUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.search || parsed.hash)
    throw new TypeError("the file: URL of an object store must not have a query or a fragment");
  return fileURLToPath(parsed);
}
