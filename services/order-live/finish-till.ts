import { toUtc } from "@pragma/contracts/date-time";
import type { EventData } from "@pragma/contracts/events";
import type { LeftReason, OrderLeft } from "@pragma/contracts/order-live";
import type { Transaction } from "@pragma/runtime/postgres";
import { listedFacts, type OrderState } from "./order-state.ts";
import { noteFinalTill } from "./queries/final-tills.ts";
import { departOrders, findLiveStates, noteDeparted } from "./queries/orders.ts";
import { appendRevisions, lockStream } from "./queries/streams.ts";
import { adjustTallies } from "./queries/tallies.ts";

/**
 * Takes the orders of a till whose report is final out of the live ones: those that the till holds, and those that are
 * of it without being in it. The former stay away for as long as they are remembered; the latter come back when they
 * are carried over to another till.
 *
 * @returns the last position of the location's stream.
 */
export async function finishTill(
  tx: Transaction,
  { locationId, tillId, orderIds, ...report }: EventData<"report.finalized">,
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
  // A till that is calculated again may be of long ago: what it holds is not remembered anew.
  if (isNews) await noteDeparted(tx, { locationId, tillId, ids: orderIds, closedAt });
  return showLeaving(tx, { locationId, last, orders: live, reason: "till" });
}

/** Enters into the stream that these orders have left, and counts them out. */
export async function showLeaving(
  tx: Transaction,
  {
    locationId,
    last,
    orders,
    reason,
  }: { locationId: string; last: number; orders: Map<string, OrderState>; reason: LeftReason },
): Promise<number> {
  const listed = [...orders].flatMap(([id, order]) => {
    const before = listedFacts(order);
    return before ? [{ id, before }] : [];
  });
  const revisions = listed.map(({ id, before }, index) => {
    const left: OrderLeft = { id, locationId, tillId: before.tillId, reason };
    return { position: last + 1 + index, orderId: id, before, after: null, body: JSON.stringify(left) };
  });
  await appendRevisions(tx, locationId, revisions);
  await adjustTallies(
    tx,
    locationId,
    listed.map(({ before }) => ({ before, after: null })),
  );
  return last + revisions.length;
}
