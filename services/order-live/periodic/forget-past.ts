import type { PeriodicTask } from "@pragma/runtime/define-service";
import { removeRows } from "@pragma/runtime/periodic";
import { afterCommit } from "@pragma/runtime/postgres";
import { showLeaving } from "../finish-till.ts";
import { daysAgo, type OrderLiveService } from "../order-live.ts";
import * as orders from "../queries/orders.ts";
import { lockStream } from "../queries/streams.ts";

/**
 * Forgets the orders that departed longer ago than they are remembered: an upsert that is later than that makes them live again. Live
 * orders that nobody has changed for as long leave, and are forgotten: their till will not come any more. So are the tills
 * whose report was final by then.
 */
export const forgetOrders: PeriodicTask<Pick<OrderLiveService, "db" | "hub" | "log" | "config">> = {
  name: "forget old orders",
  everySeconds: 60 * 60,
  async run({ db, hub, log, config }) {
    const since = daysAgo(config.LIVE_ORDERS_KEPT_DAYS);
    await removeRows(db.sql, "orders", db.sql`left_at < ${since}`);
    await removeRows(db.sql, "final_tills", db.sql`finished_at < ${since}`);
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
export const shortenLog: PeriodicTask<Pick<OrderLiveService, "db" | "config">> = {
  name: "shorten the log of changes",
  everySeconds: 300,
  async run({ db: { sql }, config }) {
    const before = new Date(Date.now() - config.LIVE_LOG_KEPT_HOURS * 3_600_000);
    await removeRows(sql, "revisions", sql`created_at < ${before}`);
  },
};
