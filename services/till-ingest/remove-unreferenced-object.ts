import type { TillIngestServiceContext } from "./context.ts";
import { claimObjectRemoval, confirmOverdueUpload, recordStoredObjectDeletion } from "./queries/pending-uploads.ts";

/**
 * Removes an object and returns true. Returns false without removing the object if it has no pending upload, if its
 * upload started in the last day, if a till refers to it, or if another process is removing it. A push during the
 * removal writes its body under a new key. If the process dies during the removal, a later run of the periodic task
 * repeats the removal.
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
