import type { PeriodicTask } from "@pragma/runtime/define-service";
import type { OrderLiveService } from "../order-live.ts";
import { removeRevisions } from "../queries/streams.ts";

/** How long a stream can be taken up again where it broke off, in milliseconds. */
const keptFor = 24 * 60 * 60 * 1000;
const batch = 5_000;

/** Removes from the logs of all streams what is older than a day. */
export const shortenLog: PeriodicTask<Pick<OrderLiveService, "db">> = {
  name: "shorten the log of changes",
  everySeconds: 300,
  async run({ db }) {
    const before = new Date(Date.now() - keptFor);
    while ((await removeRevisions(db.sql, before, batch)) === batch);
  },
};
