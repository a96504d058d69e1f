import { dateTimeToUtc } from "@pragma/contracts/date-time";
import type { BusEventData } from "@pragma/contracts/events";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { computeLiveOrderRetentionCutoff, type OrderLiveServiceConfig } from "./config.ts";
import { replaceFutureTime } from "./order-state.ts";
import { publishEndedShifts } from "./publish-shift-changes.ts";
import {
  findOrdersWithoutTill,
  findTillLiveOrderStates,
  markOrdersNoLongerLive,
  recordTillReportIsFinal,
} from "./queries/orders.ts";
import { appendDepartureLog, lockStreamPosition } from "./queries/streams.ts";

/**
 * Removes the orders of a till with a final report from the live orders. These are the orders in the report, and all
 * other orders with this `tillId`. A removed order becomes live again only when it is sent with another `tillId`. If
 * the report contains the order, it must also have been modified after the till was closed.
 *
 * @returns the last position of the location's stream.
 */
export async function removeLiveOrdersOfFinalTill(
  tx: SqlTransaction,
  { locationId, tillId, orderIds, ...report }: BusEventData<"report.finalized">,
  { config, traceparent }: { config: OrderLiveServiceConfig; traceparent: string | undefined },
): Promise<number> {
  const closedAt = replaceFutureTime(dateTimeToUtc(report.finalizedAt), new Date().toISOString());
  const lastPosition = await lockStreamPosition(tx, locationId);
  // When a till is replaced or reprocessed after the retention period, its orders are not remembered again, because they
  // have already been removed as too old.
  const isWithinRetention = report.revision === 1 || closedAt > computeLiveOrderRetentionCutoff(config).toISOString();
  const [liveOrders] = await Promise.all([
    findTillLiveOrderStates(tx, { locationId, tillId, ids: orderIds }),
    recordTillReportIsFinal(tx, { locationId, tillId, ids: isWithinRetention ? orderIds : [], closedAt }),
  ]);
  const reportedIds = new Set(orderIds);
  const ids = [...liveOrders.keys()];
  const otherIds = ids.filter((id) => !reportedIds.has(id));
  const ordersWithoutTill =
    otherIds.length === 0 ? undefined : await findOrdersWithoutTill(tx, { locationId, ids: otherIds });
  await markOrdersNoLongerLive(tx, { locationId, ids: ids.filter((id) => reportedIds.has(id)), closedAt });
  await markOrdersNoLongerLive(tx, { locationId, ids: otherIds, closedAt: null });
  const position = await appendDepartureLog(tx, {
    ...{ locationId, lastPosition, orders: liveOrders, reason: "till" },
  });
  const tillIds = [...new Set([tillId, ...[...liveOrders.values()].map((order) => order.tillId)])];
  await publishEndedShifts(tx, tillIds, {
    locationId,
    position,
    traceparent,
    ...(ordersWithoutTill && { ordersWithoutTill }),
  });
  return position;
}
