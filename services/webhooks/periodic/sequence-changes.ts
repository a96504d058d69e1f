import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { sequenceChanges } from "../changes/sequence-changes.ts";
import type { WebhooksServiceContext } from "../context.ts";

/** A few seconds of work. The next run continues. */
const maxBatchesPerRun = 50;

/**
 * Adds changes to the feed of all locations while nobody reads it, so that a later reader does not have to wait. Readers do
 * the same before they read.
 */
export const sequenceChangesTask: PeriodicTask<Pick<WebhooksServiceContext, "db">> = {
  name: "add changes to the feed of all locations",
  intervalSeconds: 5,
  async run({ db }) {
    await sequenceChanges(db, { maxBatches: maxBatchesPerRun });
  },
};
