import type { PeriodicTask } from "@pragma/runtime/define-service";
import { afterCommit } from "@pragma/runtime/postgres";
import { showLeaving } from "../finish-till.ts";
import { daysAgo, type OrderLiveService } from "../order-live.ts";
import * as orders from "../queries/orders.ts";
import { lockStream, removeRevisions } from "../queries/streams.ts";

const batch = 5_000;

/**
 * Forgets the orders that departed longer ago than they are remembered: an upsert that is later than that makes them live again. Live
 * orders that nobody has changed for as long leave, and are forgotten: their till will not come any more. So are the tills
 * whose report was final by then.
 */
export const forgetOrders: PeriodicTask<Pick<OrderLiveService, "db" | "hub" | "log" | "kept">> = {
  name: "forget old orders",
  everySeconds: 60 * 60,
  async run({ db, hub, log, kept }) {
    const since = daysAgo(kept.orderDays);
    while ((await orders.forgetDeparted(db.sql, since, batch)) === batch);
    while ((await orders.forgetFinalTills(db.sql, since, batch)) === batch);
    let forgotten = 0;
    for (const locationId of await orders.findLocationsWithUnchanged(db.sql, since)) {
      forgotten += await db.transaction(async (tx) => {
        const last = await lockStream(tx, locationId);
        const unchanged = await orders.findUnchanged(tx, { locationId, since });
        await orders.forgetOrders(tx, { locationId, ids: [...unchanged.keys()] });
        const position = await showLeaving(tx, { locationId, last, orders: unchanged, reason: "forgotten" });
        afterCommit(tx, () => hub.tell(locationId, position));
        return unchanged.size;
      });
    }
    if (forgotten > 0) log.info({ orders: forgotten }, "live orders forgotten that nobody changed for too long");
  },
};

/** Removes from the logs of all streams what is older than they are kept for. */
export const shortenLog: PeriodicTask<Pick<OrderLiveService, "db" | "kept">> = {
  name: "shorten the log of changes",
  everySeconds: 300,
  async run({ db, kept }) {
    const before = new Date(Date.now() - kept.logHours * 3_600_000);
    while ((await removeRevisions(db.sql, before, batch)) === batch);
  },
};
