import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { TillIngestServiceContext } from "../context.ts";

/** Removes the rows of reprocessings that finished more than 30 days ago. */
export const removeOldReprocessingsTask: PeriodicTask<Pick<TillIngestServiceContext, "db">> = {
  name: "remove old reprocessings",
  intervalSeconds: 3_600,
  async run({ db }) {
    await deleteRowsInBatches(db.sql, "till_reprocessings", db.sql`finished_at < now() - interval '30 days'`);
  },
};
