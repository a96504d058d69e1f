import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestContext } from "../context.ts";
import {
  claimObjectRemoval,
  confirmStaleUpload,
  finishObjectRemoval,
  listStaleUploads,
} from "../queries/pending-uploads.ts";
import { markReplacedBodiesRemoved } from "../queries/till-versions.ts";

/** Objects that are removed in one turn at most. */
const maxPerRun = 1_000;

/** Removes objects that were written more than a day ago for a till that then was not stored. */
export const removeOrphanedObjects: PeriodicTask<Pick<TillIngestContext, "db" | "objects" | "log">> = {
  name: "remove orphaned objects",
  intervalSeconds: 60 * 60,
  async run(services) {
    let removed = 0;
    for (const key of await listStaleUploads(services.db.sql, maxPerRun)) {
      if (await removeUnreferencedObject(services, key)) removed += 1;
    }
    if (removed > 0) services.log.info({ objects: removed }, "objects that belong to no till removed");
  },
};

/**
 * Removes an object unless it was begun to be written in the last day, belongs to a till, or is being removed already.
 * What is pushed while it is being removed has another key. A process that dies in between leaves it to the next turn.
 */
export async function removeUnreferencedObject(
  { db, objects }: Pick<TillIngestContext, "db" | "objects">,
  key: string,
): Promise<boolean> {
  const removal = await claimObjectRemoval(db.sql, key);
  if (!removal) {
    await confirmStaleUpload(db.sql, key);
    return false;
  }
  await objects.delete(key);
  await finishObjectRemoval(db.sql, removal);
  return true;
}

const batchSize = 500;

/** Removes the bodies of revisions that others took the place of so many days ago; what they were stays known. */
export const removeReplacedBodies: PeriodicTask<Pick<TillIngestContext, "db" | "objects" | "config">> = {
  name: "remove replaced bodies",
  intervalSeconds: 3_600,
  async run({ db, objects, config: { REPLACED_BODIES_KEPT_DAYS: days } }) {
    if (days === undefined) return;
    for (let count = batchSize; count === batchSize; ) {
      const keys = await db.transaction((tx) => markReplacedBodiesRemoved(tx, { days, limit: batchSize }));
      for (const key of keys) await removeUnreferencedObject({ db, objects }, key);
      count = keys.length;
    }
  },
};
