import { fileURLToPath } from "node:url";
import { createFolderObjectStore } from "./folder-store.ts";
import { createS3ObjectStore, parseS3Url } from "./s3-store.ts";
import type { ObjectStore } from "./store-interface.ts";

export { ObjectNotFound, type ObjectStore, ObjectStoreUnavailable } from "./store-interface.ts";

/**
 * Opens the store that a URL names, without waiting for it to be usable:
 * - `file:/absolute/folder` (made when missing);
 * - `s3://bucket/prefix?endpoint=https://host&region=name&forcePathStyle=true` (all but the bucket may be left out), with the credentials of the usual AWS_* environment.
 *
 * Throws a TypeError when the URL is neither.
 */
export function createObjectStore(url: string): ObjectStore {
  if (url.startsWith("file:/")) return createFolderObjectStore(parseFolderUrl(url));
  if (url.startsWith("s3://")) return createS3ObjectStore(parseS3Url(url));
  throw new TypeError("an object store's URL starts with file:/ or s3://");
}

function parseFolderUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.search || parsed.hash) throw new TypeError("a file: object store's URL has no query and no fragment");
  return fileURLToPath(parsed);
}
