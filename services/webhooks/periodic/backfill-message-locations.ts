import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { WebhooksServiceContext } from "../context.ts";
import { backfillMessageLocations, isMessageLocationBackfillFinished } from "../queries/message-location-backfill.ts";

const batchSize = 500;
/** A few seconds of work. The next run continues. */
const maxBatchesPerRun = 40;

/**
 * Sets the location of deliveries, messages and attempts from before version 1.1. Progress is stored with each batch, so
 * that any instance continues where the last one stopped.
 */
export const backfillMessageLocationsTask: PeriodicTask<Pick<WebhooksServiceContext, "db" | "log">> = {
  name: "backfill message locations",
  intervalSeconds: 10,
  async run({ db, log }) {
    if (await isMessageLocationBackfillFinished(db)) return;
    let hasMore = true;
    for (let batch = 0; hasMore && batch < maxBatchesPerRun; batch += 1)
      hasMore = await db.transaction((tx) => backfillMessageLocations(tx, batchSize));
    const isFinished = await isMessageLocationBackfillFinished(db);
    log.info({ isFinished }, "set the locations of existing deliveries");
  },
};
