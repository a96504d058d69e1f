import type { TillIngestContext } from "./context.ts";
import {
  claimUnreferencedTillObjectRemoval,
  confirmOverdueUploadIfReferenced,
  recordStoredObjectDeletion,
} from "./queries/pending-uploads.ts";

/**
 * Removes an object and returns true. Returns false without removing it if its upload started in the last day, a till
 * refers to it, or another process is removing it. A push during the removal writes its body under another key. If the
 * process dies during the removal, the next run of the periodic task repeats the removal.
 */
export async function removeTillObjectIfUnreferenced(
  { db, objects }: Pick<TillIngestContext, "db" | "objects">,
  key: string,
): Promise<boolean> {
  const removal = await claimUnreferencedTillObjectRemoval(db.sql, key);
  if (!removal) {
    await confirmOverdueUploadIfReferenced(db.sql, key);
    return false;
  }
  await objects.delete(key);
  await recordStoredObjectDeletion(db.sql, removal);
  return true;
}
