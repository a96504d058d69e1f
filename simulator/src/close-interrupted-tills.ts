import { nullOn } from "@pragma/client/api-problem";
import type { OrderData } from "@pragma/contracts/order-data";
import { maxLiveOrders } from "@pragma/contracts/order-live";
import { paymentRow } from "./generate-payments.ts";
import { closedTill } from "./generate-till.ts";
import { liveOrder } from "./order-revisions.ts";
import { amountText, closeTill, nextReportNumber, type PlayContext, salesOf, sendOrders } from "./play-day.ts";
import { Random } from "./random.ts";
import type { Restaurant } from "./restaurant.ts";

/** Returns the live orders that this restaurant's device has sent, by the till that they belong to. */
export async function findOwnOrders({ api, restaurant }: PlayContext): Promise<Map<string, OrderData[]>> {
  const byTill = new Map<string, OrderData[]>();
  for await (const { tillId, data } of api.items("/v1/orders-live")) {
    if (data.deviceIdentifier !== restaurant.device.id) continue;
    byTill.set(tillId, [...(byTill.get(tillId) ?? []), data]);
  }
  return byTill;
}

/**
 * Closes the tills of a play that was broken off: guests pay what is left, and the till of exactly these orders is
 * pushed, so that they leave the live ones. A till that was pushed before is left alone: its report follows by itself.
 */
export async function closeInterruptedTills(
  context: PlayContext,
  ordersByTill: ReadonlyMap<string, OrderData[]>,
): Promise<void> {
  const { api, restaurant, clock, log } = context;
  for (const [id, left] of ordersByTill) {
    const known = await nullOn(api.GET("/v1/tills/{id}", { params: { path: { id } } }), "till_not_found");
    if (known !== null) continue;
    const finalizedAt = new Date(clock.now()).toISOString();
    const [startedAt = finalizedAt] = left.map(({ openedAt }) => openedAt).sort();
    const orderList = left.map((order) => settleOrder(restaurant, order, finalizedAt));
    const settled = orderList.map((order) => liveOrder(restaurant.establishment, order));
    for (let first = 0; first < settled.length; first += maxLiveOrders)
      await sendOrders(context, settled.slice(first, first + maxLiveOrders));
    const reportNumber = await nextReportNumber(context);
    await closeTill(context, closedTill(restaurant, { id, startedAt, finalizedAt, reportNumber, orderList }));
    log(`Till of an earlier play closed: ${settled.length} orders, sales ${amountText(salesOf(settled))}`);
  }
}

/** An order as it is once a guest has paid what is left by card at this time. One that is closed stays as it is. */
function settleOrder({ paymentMethods }: Restaurant, order: OrderData, at: string): OrderData {
  if (order.closedAt !== null) return order;
  const { operatorId, operatorName, leftToPay } = order;
  const isDone = order.isPaid || order.isCanceled || order.isTransferred;
  const isDue = !isDone && leftToPay > 0;
  const random = new Random(`settle/${order.id}`);
  const closed = {
    ...order,
    revisionHash: random.uuid(),
    modifiedAt: at,
    closedAt: at,
    signature: random.hex(64),
    manuallyClosed: !isDone && !isDue,
  };
  if (!isDue) return closed;
  const paid = paymentRow(random.uuid(), paymentMethods.card, at, leftToPay);
  const paymentRowList = [...order.paymentRowList, { ...paid, operatorId, operatorName }];
  return { ...closed, isPaid: true, paidAt: at, leftToPay: 0, paymentRowList };
}
