import type { TillIngestServiceContext } from "./context.ts";
import { claimObjectRemoval, confirmOverdueUpload, recordStoredObjectDeletion } from "./queries/pending-uploads.ts";

/**
 * Removes an object that `claimObjectRemoval` can claim, and returns whether it was removed. A push during the removal
 * writes its body under a new key. If the process dies, a later run of the periodic task repeats the removal.
 */
export async function removeUnreferencedObject(
  { db, objects }: Pick<TillIngestServiceContext, "db" | "objects">,
  key: string,
): Promise<boolean> {
  const removal = await claimObjectRemoval(db.sql, key);
  if (!removal) {
    await confirmOverdueUpload(db.sql, key);
    return false;
  }
  await objects.delete(key);
  await recordStoredObjectDeletion(db.sql, removal);
  return true;
}
