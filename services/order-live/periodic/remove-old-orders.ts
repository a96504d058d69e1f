import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import { computeLiveOrderRetentionCutoff } from "../config.ts";
import type { OrderLiveServiceContext } from "../context.ts";
import { publishDeparture } from "../publish-shift-changes.ts";
import { findLiveOrderStates, findOrdersWithoutTill } from "../queries/orders.ts";
import { lockStreamPosition } from "../queries/streams.ts";

/** Removes departed orders, final tills, and live orders whose till will probably never be closed. */
export const removeOldLiveOrdersTask: PeriodicTask<
  Pick<OrderLiveServiceContext, "db" | "broadcaster" | "log" | "config">
> = {
  name: "remove old orders",
  intervalSeconds: 60 * 60,
  timeoutSeconds: 3_600,
  async run({ db, broadcaster, log, config }, context) {
    const traceparent = context?.traceparent;
    const cutoff = computeLiveOrderRetentionCutoff(config);
    await deleteRowsInBatches(db.sql, "live_orders", db.sql`departed_at < ${cutoff}`);
    await deleteRowsInBatches(db.sql, "final_tills", db.sql`finished_at < ${cutoff}`);
    let removedCount = 0;
    // Uses the index on created_at, which updates do not change.
    const staleLocations = await db.sql<{ locationId: string }[]>`
      select distinct location_id from live_orders
      where departed_at is null and created_at < ${cutoff} and updated_at < ${cutoff}`;
    for (const { locationId } of staleLocations) {
      removedCount += await db.transaction(async (tx) => {
        const lastPosition = await lockStreamPosition(tx, locationId);
        const orders = await findLiveOrderStates(tx, locationId, { unchangedSince: cutoff });
        const ids = [...orders.keys()];
        const ordersWithoutTill = await findOrdersWithoutTill(tx, { locationId, ids });
        await tx`delete from live_orders where location_id = ${locationId} and id = any(${ids}::uuid[])`;
        const departure = { locationId, lastPosition, orders, reason: "forgotten", traceparent } as const;
        await publishDeparture(tx, { ...departure, ordersWithoutTill }, broadcaster);
        return orders.size;
      });
    }
    if (removedCount > 0) log.info({ orders: removedCount }, "removed live orders unchanged beyond retention");
  },
};

/** Removes entries that are older than the log's retention period from the change logs of all locations. */
export const trimOrderChangeLogTask: PeriodicTask<Pick<OrderLiveServiceContext, "db" | "config">> = {
  name: "trim change log",
  intervalSeconds: 300,
  async run({ db: { sql }, config }) {
    const cutoff = new Date(Date.now() - config.LIVE_LOG_RETENTION_HOURS * 3_600_000);
    await deleteRowsInBatches(sql, "order_revisions", sql`created_at < ${cutoff}`);
  },
};
