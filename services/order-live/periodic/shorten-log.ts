import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { OrderLiveService } from "../order-live.ts";
import { removeRevisions } from "../queries/streams.ts";

const hour = 60 * 60 * 1000;
const batch = 5_000;

/** Removes from the logs of all streams what is older than they are kept for. */
export const shortenLog: PeriodicTask<Pick<OrderLiveService, "db" | "kept">> = {
  name: "shorten the log of changes",
  everySeconds: 300,
  async run({ db, kept }) {
    const before = new Date(Date.now() - kept.logHours * hour);
    while ((await removeRevisions(db.sql, before, batch)) === batch);
  },
};
