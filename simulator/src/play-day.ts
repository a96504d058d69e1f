import type { GeneratedTill } from "./generate-till.ts";
import type { LiveDay } from "./live-day.ts";
import { joinedAt, nextBatch } from "./next-batch.ts";
import type { LiveOrder } from "./order-revisions.ts";
import type { Playing } from "./playing.ts";
import { awaitReport, nextReportNumber, pushTill } from "./push-till.ts";
import { sendOrders } from "./send-orders.ts";
import { amountText, tellDay } from "./tell-day.ts";

/** What became of a day that was played. */
export interface PlayedDay {
  till: GeneratedTill;
  /** Changes of orders that were sent, and those of them that the API took. */
  sent: number;
  taken: number;
  /** What was sold by the orders as they were sent last, in minor units. */
  sales: number;
  /** Null when it is not there yet. */
  report: { id: string; totalSales: number } | null;
}

/**
 * Plays a day of service: sends each change of each order when it is due, then pushes the till of exactly these orders
 * and waits until its report takes them out of the live ones. Who joins a day that has begun sends each of its orders
 * once, as it is by then; otherwise what is overdue is sent as well.
 *
 * @throws what the API refuses for good, and the reason of the signal.
 */
export async function playDay(playing: Playing, day: LiveDay, { joins = false } = {}): Promise<PlayedDay> {
  const { clock, signal, say } = playing;
  const telling = tellDay(playing, day);
  const orders = new Map<string, LiveOrder>();
  let queue = joins ? joinedAt(day.revisions, clock.now()) : [...day.revisions];
  let sent = 0;
  let taken = 0;
  while (queue.length > 0) {
    const { batch, rest } = nextBatch(queue, clock.now());
    if (batch.length === 0) {
      await clock.wait(Math.max(1, (queue[0]?.at ?? 0) - clock.now()), signal);
      continue;
    }
    const changed = batch.map(({ order }) => order);
    taken += await sendOrders(playing, changed);
    sent += changed.length;
    for (const order of changed) orders.set(order.id, order);
    telling.changed(orders, batch.at(-1)?.order.data.modifiedAt ?? null);
    queue = rest;
    await clock.wait(1000 / playing.rate, signal);
  }
  await clock.wait(Math.max(0, day.closesAt - clock.now()), signal);
  const reportNumber = day.isNumberedLast ? await nextReportNumber(playing) : day.till.reportNumber;
  const orderList = day.till.orderList.map((order) => orders.get(order.id)?.data ?? order);
  const till = { ...day.till, reportNumber, orderList };
  await pushTill(playing, till);
  const sales = salesOf([...orders.values()]);
  const report = await awaitReport(playing, till);
  const outcome = report ? `report ${report.id}` : "its report is still to come";
  say(`Till closed: ${till.orderList.length} orders, sales ${amountText(sales)}; ${outcome}`);
  if (report && report.totalSales !== sales) say(`The report says ${amountText(report.totalSales)}`);
  return { till, sent, taken, sales, report };
}

/** What these orders sold, in minor units. */
export function salesOf(orders: readonly LiveOrder[]): number {
  return orders
    .filter(({ data }) => !data.isCanceled && !data.isTransferred && !data.isTraining)
    .reduce((sum, { data }) => sum + data.total, 0);
}
