import type { PeriodicTask } from "@pragma/runtime/define-service";
import { listStaleIntents, lockStaleIntent, settleIntent } from "../queries/object-intents.ts";
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

/** While the intent is locked, a push of the same bytes waits; it then writes the object anew. */
export async function removeUnlessReferred(
  { db, objects }: Pick<TillIngest, "db" | "objects">,
  key: string,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const stale = await lockStaleIntent(tx, key);
    if (!stale) return false;
    if (!stale.isReferred) await objects.delete(key);
    await settleIntent(tx, key);
    return !stale.isReferred;
  });
}
