import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { TillIngestServiceContext } from "../context.ts";
import { backfillTillLocations, isTillLocationBackfillFinished } from "../queries/till-location-backfill.ts";

const batchSize = 500;
/** A few seconds of work. The next run continues. */
const maxBatchesPerRun = 40;

/**
 * Inserts the directory rows of tills from before version 1.1, and sets the location of their revisions. Progress is
 * stored with each batch, so that any instance continues where the last one stopped.
 */
export const backfillTillLocationsTask: PeriodicTask<Pick<TillIngestServiceContext, "db" | "log">> = {
  name: "backfill till locations",
  intervalSeconds: 10,
  async run({ db, log }) {
    if (await isTillLocationBackfillFinished(db, db.sql)) return;
    let tills = 0;
    for (let batch = 0; batch < maxBatchesPerRun; batch += 1) {
      const count = await db.transaction((tx) => backfillTillLocations(tx, batchSize));
      tills += count;
      if (count < batchSize) break;
    }
    const isFinished = await isTillLocationBackfillFinished(db, db.sql);
    if (tills > 0 || isFinished) log.info({ tills, isFinished }, "set the locations of existing tills");
  },
};
