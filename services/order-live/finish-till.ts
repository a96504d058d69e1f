import { dateTimeToUtc } from "@pragma/contracts/date-time";
import type { EventData } from "@pragma/contracts/events";
import type { OrderLeftEvent, OrderLeftReason } from "@pragma/contracts/order-live";
import { runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { onEvent } from "@pragma/runtime/messaging/subscription";
import { daysAgo, type OrderLiveConfig, type OrderLiveContext } from "./context.ts";
import { listedFilterFields, type OrderState } from "./order-state.ts";
import { findLiveOrderStates, insertDepartedOrders, markOrdersDeparted, recordFinalTill } from "./queries/orders.ts";
import { appendRevisions, type LiveOrderRevision, lockLocationStream } from "./queries/streams.ts";

/**
 * Takes the orders of a till whose report is final out of the live ones: those that the till holds, and those that are
 * of it without being in it. The former stay away for as long as they are remembered; the latter come back when they
 * are carried over to another till.
 *
 * @returns the last position of the location's stream.
 */
async function finishTill(
  tx: SqlTransaction,
  { locationId, tillId, orderIds, ...report }: EventData<"report.finalized">,
  config: OrderLiveConfig,
): Promise<number> {
  const closedAt = dateTimeToUtc(report.finalizedAt);
  const lastPosition = await lockLocationStream(tx, locationId);
  const [isNewlyFinal, liveOrders] = await Promise.all([
    recordFinalTill(tx, { locationId, tillId }),
    findLiveOrderStates(tx, { locationId, tillId, ids: orderIds }),
  ]);
  const heldIds = new Set(orderIds);
  const ids = [...liveOrders.keys()];
  await markOrdersDeparted(tx, { locationId, ids: ids.filter((id) => heldIds.has(id)), closedAt });
  await markOrdersDeparted(tx, { locationId, ids: ids.filter((id) => !heldIds.has(id)), closedAt: null });
  // A till that is calculated again may be of long ago, and forgotten: what it holds is not remembered anew.
  const isRecent = report.revision === 1 || closedAt > daysAgo(config.LIVE_ORDERS_KEPT_DAYS).toISOString();
  if (isNewlyFinal && isRecent) await insertDepartedOrders(tx, { locationId, tillId, ids: orderIds, closedAt });
  return appendLeftOrders(tx, { locationId, last: lastPosition, orders: liveOrders, reason: "till" });
}

/** Enters into the stream that these orders have left; gives its last position. */
export async function appendLeftOrders(
  tx: SqlTransaction,
  {
    locationId,
    last: lastPosition,
    orders,
    reason,
  }: { locationId: string; last: number; orders: Map<string, OrderState>; reason: OrderLeftReason },
): Promise<number> {
  const revisions: LiveOrderRevision[] = [];
  for (const [id, order] of orders) {
    const before = listedFilterFields(order);
    if (!before) continue;
    const left: OrderLeftEvent = { id, locationId, tillId: before.tillId, reason };
    const position = lastPosition + 1 + revisions.length;
    revisions.push({ position, orderId: id, before, after: null, body: JSON.stringify(left) });
  }
  await appendRevisions(tx, locationId, revisions);
  return lastPosition + revisions.length;
}

/** A till was closed and has its report: its orders are no longer live. */
export const finishReportedTill = onEvent<OrderLiveContext, "report.finalized">(
  "report.finalized",
  async ({ data, services, once }) => {
    await once(async (tx) => {
      const position = await finishTill(tx, data, services.config);
      runAfterCommit(tx, () => services.broadcaster.notify(data.locationId, position));
    });
  },
);
