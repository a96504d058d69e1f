import { toUtc } from "@pragma/contracts/date-time";
import type { EventData } from "@pragma/contracts/events";
import type { LeftReason, OrderLeft } from "@pragma/contracts/order-live";
import { afterCommit, type Transaction } from "@pragma/runtime/postgres";
import { on } from "@pragma/runtime/subscription";
import { daysAgo, type OrderLiveConfig, type OrderLiveService } from "./order-live.ts";
import { listedFacts, type OrderState } from "./order-state.ts";
import { departOrders, findLiveStates, noteDeparted, noteFinalTill } from "./queries/orders.ts";
import { appendRevisions, lockStream, type Revision } from "./queries/streams.ts";

/**
 * Takes the orders of a till whose report is final out of the live ones: those that the till holds, and those that are
 * of it without being in it. The former stay away for as long as they are remembered; the latter come back when they
 * are carried over to another till.
 *
 * @returns the last position of the location's stream.
 */
async function finishTill(
  tx: Transaction,
  { locationId, tillId, orderIds, ...report }: EventData<"report.finalized">,
  config: OrderLiveConfig,
): Promise<number> {
  const closedAt = toUtc(report.finalizedAt);
  const last = await lockStream(tx, locationId);
  const [isNews, live] = await Promise.all([
    noteFinalTill(tx, { locationId, tillId }),
    findLiveStates(tx, { locationId, tillId, ids: orderIds }),
  ]);
  const held = new Set(orderIds);
  const ids = [...live.keys()];
  await departOrders(tx, { locationId, ids: ids.filter((id) => held.has(id)), closedAt });
  await departOrders(tx, { locationId, ids: ids.filter((id) => !held.has(id)), closedAt: null });
  // A till that is calculated again may be of long ago, and forgotten: what it holds is not remembered anew.
  const isRecent = report.revision === 1 || closedAt > daysAgo(config.LIVE_ORDERS_KEPT_DAYS).toISOString();
  if (isNews && isRecent) await noteDeparted(tx, { locationId, tillId, ids: orderIds, closedAt });
  return showLeaving(tx, { locationId, last, orders: live, reason: "till" });
}

/** Enters into the stream that these orders have left; gives its last position. */
export async function showLeaving(
  tx: Transaction,
  {
    locationId,
    last,
    orders,
    reason,
  }: { locationId: string; last: number; orders: Map<string, OrderState>; reason: LeftReason },
): Promise<number> {
  const revisions: Revision[] = [];
  for (const [id, order] of orders) {
    const before = listedFacts(order);
    if (!before) continue;
    const left: OrderLeft = { id, locationId, tillId: before.tillId, reason };
    const position = last + 1 + revisions.length;
    revisions.push({ position, orderId: id, before, after: null, body: JSON.stringify(left) });
  }
  await appendRevisions(tx, locationId, revisions);
  return last + revisions.length;
}

/** A till was closed and has its report: its orders are no longer live. */
export const reportFinalized = on<OrderLiveService, "report.finalized">(
  "report.finalized",
  async ({ data, services, once }) => {
    await once(async (tx) => {
      const position = await finishTill(tx, data, services.config);
      afterCommit(tx, () => services.hub.tell(data.locationId, position));
    });
  },
);
