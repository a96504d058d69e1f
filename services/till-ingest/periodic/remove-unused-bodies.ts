import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import {
  claimObjectRemoval,
  confirmOverdueUpload,
  listStaleTillUploadKeys,
  recordStoredObjectDeletion,
} from "../queries/pending-uploads.ts";
import { listReplacedTillBodies, scheduleReplacedBodyRemoval } from "../queries/till-versions.ts";
import { groupByLocation, listTillPartitionSuffixes } from "../queries/tills.ts";

/**
 * Removes an object if `claimObjectRemoval` allows it. Pushes then use a new key. If the process dies, the task
 * retries.
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

/** Maximum number of orphaned objects that one run removes. The next run removes the others. */
const maxPerRun = 1_000;

/** Removes objects without a till a day after their upload, such as those of crashed processes. */
export const removeOrphanedTillObjectsTask: PeriodicTask<Pick<TillIngestServiceContext, "db" | "objects" | "log">> = {
  name: "remove orphaned objects",
  intervalSeconds: 60 * 60,
  timeoutSeconds: 3_600,
  async run(services) {
    let removed = 0;
    for (const key of await listStaleTillUploadKeys(services.db.sql, maxPerRun)) {
      if (await removeUnreferencedObject(services, key)) removed += 1;
    }
    if (removed > 0) services.log.info({ objects: removed }, "removed orphaned objects");
  },
};

const batchSize = 500;

/** Removes the bodies of till revisions that were replaced longer ago than the retention period. Keeps their rows. */
export const removeReplacedTillBodiesTask: PeriodicTask<Pick<TillIngestServiceContext, "db" | "objects" | "config">> = {
  name: "remove replaced bodies",
  intervalSeconds: 3_600,
  timeoutSeconds: 3_600,
  async run({ db, objects, config: { REPLACED_BODIES_RETENTION_DAYS: days } }) {
    if (days === undefined) return;
    for (const suffix of await listTillPartitionSuffixes(db.sql)) {
      for (let count = batchSize; count === batchSize; ) {
        const replaced = await listReplacedTillBodies(db.sql, { suffix, days, limit: batchSize });
        for (const [locationId, revisions] of groupByLocation(replaced)) {
          const keys = await db.transaction((tx) => scheduleReplacedBodyRemoval(tx, { locationId, revisions, days }));
          for (const key of keys) await removeUnreferencedObject({ db, objects }, key);
        }
        count = replaced.length;
      }
    }
  },
};
