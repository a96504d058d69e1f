import type { PeriodicTask } from "@pragma/runtime/define-service";
import { removeReplacedBodies } from "../queries/till-versions.ts";
import type { TillIngest } from "../till-ingest.ts";
import { removeUnlessReferred } from "./remove-orphans.ts";

const portion = 500;

/** Removes the bodies of revisions that others took the place of so many days ago; what they were stays known. */
export const removeReplaced: PeriodicTask<Pick<TillIngest, "db" | "objects" | "replacedKeptDays">> = {
  name: "remove replaced bodies",
  everySeconds: 3_600,
  async run({ db, objects, replacedKeptDays }) {
    if (replacedKeptDays === undefined) return;
    for (let count = portion; count === portion; ) {
      const keys = await db.transaction((tx) => removeReplacedBodies(tx, { days: replacedKeptDays, limit: portion }));
      for (const key of keys) await removeUnlessReferred({ db, objects }, key);
      count = keys.length;
    }
  },
};
