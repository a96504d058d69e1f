import { toCompressedObjectKey } from "@pragma/runtime/object-store/compressed-store";
import type { TillIngestServiceConfig } from "./config.ts";
import type { TillRow } from "./queries/tills.ts";

/** Returns the object key of a till body: its location, one of 256 folders, and its SHA-256 hash. */
export function buildTillObjectKey(
  { COMPRESS_TILL_BODIES }: Pick<TillIngestServiceConfig, "COMPRESS_TILL_BODIES">,
  { locationId, hash }: Pick<TillRow, "locationId" | "hash">,
): string {
  const key = `tills/${locationId}/${hash.slice(0, 2)}/${hash}`;
  return COMPRESS_TILL_BODIES ? toCompressedObjectKey(key) : key;
}

/** Returns the id of the location that the key of a till body contains. @throws `Error` for another key. */
export function getLocationIdOfTillObjectKey(key: string): string {
  const [folder, locationId] = key.split("/");
  if (folder !== "tills" || locationId === undefined) throw new Error(`${key} is not the key of a till body.`);
  return locationId;
}
