import { dateTimeToUtc } from "@pragma/contracts/date-time";
import { defineEventSubscription } from "@pragma/runtime/messaging/subscription";
import { computeLiveOrderRetentionCutoff } from "../config.ts";
import type { OrderLiveServiceContext } from "../context.ts";
import { replaceFutureTime } from "../order-state.ts";
import { publishDeparture } from "../publish-shift-changes.ts";
import { findLiveOrderStates, findOrdersWithoutTill } from "../queries/orders.ts";
import { lockStreamPosition } from "../queries/streams.ts";

/** Removes the orders of a report, and all others with its `tillId`, from the live orders. See `findSkipReason`. */
export const removeReportedSubscription = defineEventSubscription<OrderLiveServiceContext, "report.finalized">(
  "report.finalized",
  async ({ data: { locationId, tillId, orderIds, ...report }, services, context: { traceparent }, once }) => {
    await once(async (tx) => {
      const closedAt = replaceFutureTime(dateTimeToUtc(report.finalizedAt), new Date().toISOString());
      const lastPosition = await lockStreamPosition(tx, locationId);
      // When a till is replaced or reprocessed after the retention period, its orders are not remembered again, because
      // they have already been removed as too old.
      const cutoff = computeLiveOrderRetentionCutoff(services.config).toISOString();
      const rememberedIds = report.revision === 1 || closedAt > cutoff ? orderIds : [];
      const [orders] = await Promise.all([
        findLiveOrderStates(tx, locationId, { tillId, ids: orderIds }),
        // With its orders that are not stored, which are skipped when they are sent.
        tx`
          insert into final_tills (location_id, till_id, closed_at, never_live_order_ids)
          select ${locationId}, ${tillId}, ${closedAt}, array_agg(reported.id)
          from unnest(${rememberedIds}::uuid[]) as reported (id)
          where not exists (select from live_orders where location_id = ${locationId} and live_orders.id = reported.id)
          on conflict (location_id, till_id) do nothing`,
      ]);
      const reportedIds = new Set(orderIds);
      const ids = [...orders.keys()];
      const otherIds = ids.filter((id) => !reportedIds.has(id));
      const ordersWithoutTill =
        otherIds.length === 0 ? undefined : await findOrdersWithoutTill(tx, { locationId, ids: otherIds });
      // No report contains the others, so that they were not closed.
      await tx`
        update live_orders set
          departed_at = now(), closed_at = case when id <> all(${otherIds}::uuid[]) then ${closedAt} end, body = null,
          etag = null
        where location_id = ${locationId} and id = any(${ids}::uuid[])`;
      const departure = { locationId, lastPosition, orders, reason: "till", tillId, traceparent } as const;
      await publishDeparture(
        tx,
        { ...departure, ...(ordersWithoutTill && { ordersWithoutTill }) },
        services.broadcaster,
      );
    });
  },
);
