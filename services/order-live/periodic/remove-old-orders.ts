import { runAfterCommit } from "@pragma/runtime/database/postgres";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import { daysAgo, type OrderLiveContext } from "../context.ts";
import { appendLeftOrders } from "../finish-till.ts";
import * as orders from "../queries/orders.ts";
import { lockLocationStream } from "../queries/streams.ts";

/**
 * Forgets the orders that departed longer ago than they are remembered: an upsert that is later than that makes them live again. Live
 * orders that nobody has changed for as long leave, and are forgotten: their till will not come any more. So are the tills
 * whose report was final by then.
 */
export const removeOldOrders: PeriodicTask<Pick<OrderLiveContext, "db" | "broadcaster" | "log" | "config">> = {
  name: "forget old orders",
  intervalSeconds: 60 * 60,
  async run({ db, broadcaster, log, config }) {
    const unchangedSince = daysAgo(config.LIVE_ORDERS_KEPT_DAYS);
    await deleteRowsInBatches(db.sql, "orders", db.sql`left_at < ${unchangedSince}`);
    await deleteRowsInBatches(db.sql, "final_tills", db.sql`finished_at < ${unchangedSince}`);
    let removedCount = 0;
    for (const locationId of await orders.findLocationsWithUnchangedOrders(db.sql, unchangedSince)) {
      removedCount += await db.transaction(async (tx) => {
        const lastPosition = await lockLocationStream(tx, locationId);
        const unchanged = await orders.findUnchangedOrders(tx, { locationId, since: unchangedSince });
        await orders.deleteOrders(tx, { locationId, ids: [...unchanged.keys()] });
        const position = await appendLeftOrders(tx, {
          locationId,
          last: lastPosition,
          orders: unchanged,
          reason: "forgotten",
        });
        runAfterCommit(tx, () => broadcaster.notify(locationId, position));
        return unchanged.size;
      });
    }
    if (removedCount > 0) log.info({ orders: removedCount }, "live orders forgotten that nobody changed for too long");
  },
};

/** Removes from the logs of all streams what is older than they are kept for. */
export const trimRevisionLog: PeriodicTask<Pick<OrderLiveContext, "db" | "config">> = {
  name: "shorten the log of changes",
  intervalSeconds: 300,
  async run({ db: { sql }, config }) {
    const before = new Date(Date.now() - config.LIVE_LOG_KEPT_HOURS * 3_600_000);
    await deleteRowsInBatches(sql, "revisions", sql`created_at < ${before}`);
  },
};
