import { nullOn } from "@pragma/client/api-problem";
import type { OrderData } from "@pragma/contracts/order-data";
import { mostLiveOrders } from "@pragma/contracts/order-live";
import { liveOrder } from "./order-revisions.ts";
import { patiently } from "./patiently.ts";
import { salesOf } from "./play-day.ts";
import type { Playing } from "./playing.ts";
import { awaitReport, nextReportNumber, pushTill } from "./push-till.ts";
import { sendOrders } from "./send-orders.ts";
import { settleOrder } from "./settle-order.ts";
import { amountText } from "./tell-day.ts";
import { tillOfOrders } from "./till-of-orders.ts";

/** The live orders that this restaurant's device has sent, by the till that they belong to. */
export async function findOwnOrders(playing: Playing): Promise<Map<string, OrderData[]>> {
  const { api, restaurant } = playing;
  const byTill = new Map<string, OrderData[]>();
  const found = await patiently(playing, (signal) => allOf(api.items("/v1/orders-live", { signal })));
  for (const { tillId, data } of found) {
    if (data.deviceIdentifier !== restaurant.device.id) continue;
    byTill.set(tillId, [...(byTill.get(tillId) ?? []), data]);
  }
  return byTill;
}

/**
 * Closes the tills of a play that was broken off: guests pay what is left, and the till of exactly these orders is
 * pushed, so that they leave the live ones. Orders of other devices are left alone.
 */
export async function finishLeftovers(playing: Playing, leftovers: ReadonlyMap<string, OrderData[]>): Promise<void> {
  for (const [tillId, orders] of leftovers) {
    if (!(await isKnown(playing, tillId))) await closeTill(playing, tillId, orders);
  }
}

async function closeTill(playing: Playing, tillId: string, left: readonly OrderData[]): Promise<void> {
  const { restaurant, clock, say } = playing;
  const closedAt = new Date(clock.now()).toISOString();
  const orders = left.map((order) => settleOrder(order, restaurant.paymentMethods.card, closedAt));
  const reportNumber = await nextReportNumber(playing);
  const till = tillOfOrders({ restaurant, tillId, orders, reportNumber, closedAt });
  const settled = orders.map((data) => liveOrder(till, { ...data, revisionHash: data.revisionHash ?? data.id }));
  for (let first = 0; first < settled.length; first += mostLiveOrders)
    await sendOrders(playing, settled.slice(first, first + mostLiveOrders));
  await pushTill(playing, till);
  await awaitReport(playing, till);
  say(`Till of an earlier play closed: ${orders.length} orders, sales ${amountText(salesOf(settled))}`);
}

/** Whether the till was pushed before it was broken off: then its report follows by itself. */
async function isKnown(playing: Playing, tillId: string): Promise<boolean> {
  const { api } = playing;
  const till = await patiently(playing, (signal) =>
    nullOn(api.GET("/v1/tills/{id}", { params: { path: { id: tillId } }, signal }), "till_not_found"),
  );
  return till !== null;
}

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
