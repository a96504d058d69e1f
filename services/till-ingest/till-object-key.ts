import { toCompressedObjectKey } from "@pragma/runtime/object-store/object-store";
import type { TillRow } from "./queries/tills.ts";

/** Returns the object key of a till body: its location, one of 256 folders, and its SHA-256 hash. */
export function buildTillObjectKey({ locationId, hash }: Pick<TillRow, "locationId" | "hash">): string {
  return toCompressedObjectKey(`tills/${locationId}/${hash.slice(0, 2)}/${hash}`);
}

/** Returns the id of the location that the key of a till body contains. @throws `Error` for another key. */
export function getLocationIdOfTillObjectKey(key: string): string {
  const [folder, locationId] = key.split("/");
  if (folder !== "tills" || locationId === undefined) throw new Error(`${key} is not the key of a till body.`);
  return locationId;
}
