import type { PeriodicTask } from "@pragma/runtime/define-service";
import { beginRemoval, endRemoval, listStaleIntents, settleStaleIntent } from "../queries/object-intents.ts";
import { removeReplacedBodies } from "../queries/till-versions.ts";
import type { TillIngest } from "../till-ingest.ts";

/** Objects that are removed in one turn at most. */
const mostAtATime = 1_000;

/** Removes objects that were written more than a day ago for a till that then was not stored. */
export const removeOrphans: PeriodicTask<Pick<TillIngest, "db" | "objects" | "log">> = {
  name: "remove orphaned objects",
  everySeconds: 60 * 60,
  async run(services) {
    let removed = 0;
    for (const key of await listStaleIntents(services.db.sql, mostAtATime)) {
      if (await removeUnlessReferred(services, key)) removed += 1;
    }
    if (removed > 0) services.log.info({ objects: removed }, "objects that belong to no till removed");
  },
};

/**
 * Removes an object unless it was begun to be written in the last day, belongs to a till, or is being removed already.
 * What is pushed while it is being removed has another key. A process that dies in between leaves it to the next turn.
 */
export async function removeUnlessReferred(
  { db, objects }: Pick<TillIngest, "db" | "objects">,
  key: string,
): Promise<boolean> {
  const removal = await beginRemoval(db.sql, key);
  if (!removal) {
    await settleStaleIntent(db.sql, key);
    return false;
  }
  await objects.delete(key);
  await endRemoval(db.sql, removal);
  return true;
}

const portion = 500;

/** Removes the bodies of revisions that others took the place of so many days ago; what they were stays known. */
export const removeReplaced: PeriodicTask<Pick<TillIngest, "db" | "objects" | "config">> = {
  name: "remove replaced bodies",
  everySeconds: 3_600,
  async run({ db, objects, config: { REPLACED_BODIES_KEPT_DAYS: days } }) {
    if (days === undefined) return;
    for (let count = portion; count === portion; ) {
      const keys = await db.transaction((tx) => removeReplacedBodies(tx, { days, limit: portion }));
      for (const key of keys) await removeUnlessReferred({ db, objects }, key);
      count = keys.length;
    }
  },
};
