import type { PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import type { OrderData } from "@pragma/contracts/order-data";
import { maxLiveOrdersPerRequest, type OrderLiveInput } from "@pragma/contracts/order-live";
import { createPaymentRow } from "./generate-payments.ts";
import { createClosedTill, type GeneratedTill } from "./generate-till.ts";
import { createLiveOrder, type OrderSchedule, takeDueRevisions } from "./order-revisions.ts";
import { Random } from "./random.ts";
import type { Restaurant } from "./restaurant.ts";
import { localDateAt } from "./service-day.ts";
import type { SimulationClock } from "./transient-retry-options.ts";

/** What playing a restaurant at its location needs. */
export interface SimulationContext {
  /** The API under the location's key, asked again until it answers. */
  readonly api: PublicApiClient;
  readonly restaurant: Restaurant;
  /** IANA name, the location's. */
  readonly timeZone: string;
  /** The location's id: other locations have other tills. */
  readonly locationId: string;
  /** How many calls a second it makes at most. */
  readonly rate: number;
  readonly clock: SimulationClock;
  /** Ends the play: what waits then throws the signal's reason, and a call in flight an error with this cause. */
  readonly signal: AbortSignal;
  /** Given lines for people. */
  readonly log: (line: string) => void;
}

/** What became of a day that was played. */
export interface SimulatedDay {
  till: GeneratedTill;
  /** What was sold by the orders as they were sent last, in minor units. */
  sales: number;
  /** Null when it is not there yet. */
  report: { id: string; totalSales: number } | null;
}

/**
 * Plays a day of service: sends each change of each order when it is due, then pushes the till of exactly these orders
 * and waits until its report takes them out of the live ones. What is overdue is sent as well.
 *
 * @throws what the API refuses for good, and once the signal is given.
 */
export async function simulateDay(context: SimulationContext, day: OrderSchedule): Promise<SimulatedDay> {
  const { clock, signal, log } = context;
  const orders = new Map<string, OrderLiveInput>();
  const logProgress = createProgressLog(context, day, orders);
  let queue = day.revisions;
  while (queue.length > 0) {
    const { batch, rest } = takeDueRevisions(queue, clock.now());
    if (batch.length === 0) {
      await clock.wait(Math.max(1, (queue[0]?.at ?? 0) - clock.now()), signal);
      continue;
    }
    const changed = batch.map(({ order }) => order);
    await context.api.POST("/v1/orders-live", { body: changed });
    for (const order of changed) orders.set(order.id, order);
    logProgress();
    queue = rest;
    await clock.wait(1000 / context.rate, signal);
  }
  await clock.wait(Math.max(0, day.closesAt - clock.now()), signal);
  const reportNumber = day.isNumberedLast ? await readNextReportNumber(context) : day.till.reportNumber;
  const orderList = day.till.orderList.map((order) => orders.get(order.id)?.data ?? order);
  const till = { ...day.till, reportNumber, orderList };
  const sales = sumSales([...orders.values()]);
  const report = await pushTillAndAwaitReport(context, till);
  const outcome = report ? `report ${report.id}` : "its report is still to come";
  log(`Till closed: ${till.orderList.length} orders, sales ${formatEuros(sales)}; ${outcome}`);
  if (report && report.totalSales !== sales) log(`The report says ${formatEuros(report.totalSales)}`);
  return { till, sales, report };
}

/** The number that the next report of the location has: reports are counted. */
async function readNextReportNumber({ api }: SimulationContext): Promise<number> {
  const { data: reports } = await api.GET("/v2/reports", { params: { query: { size: 1 } } });
  const [newest] = reports.data;
  if (!newest) return 1;
  const { data: report } = await api.GET("/v2/reports/{id}", { params: { path: { id: newest.id } } });
  return report.reportNumber + 1;
}

/** Pushes a till. One that the API has with other content stays as it is there. */
export async function pushTill(api: PublicApiClient, till: GeneratedTill): Promise<void> {
  await nullOnProblem(api.POST("/v2/tills", { body: till }), "till_conflict");
}

/**
 * Pushes a till, and waits until its report can be read and no list shows its orders any more. Returns the report as
 * lists show it; null when that takes longer than a minute.
 */
async function pushTillAndAwaitReport({ api, timeZone, clock, signal }: SimulationContext, till: GeneratedTill) {
  await pushTill(api, till);
  const { id: tillId, startedAt } = till;
  const day = localDateAt(Date.parse(startedAt), timeZone).toString();
  for (let polls = 0; polls < maxPolls; polls++) {
    const { data: reports } = await api.GET("/v2/reports", {
      params: { query: { since: day, until: day, size: 100 } },
    });
    const report = reports.data.find((listed) => Date.parse(listed.startedAt) === Date.parse(startedAt));
    const { data: live } = await api.GET("/v1/orders-live", { params: { query: { tillId, size: 1 } } });
    if (report && live.meta.totalCount === 0) return report;
    await clock.wait(pollIntervalMs, signal);
  }
  return null;
}

const pollIntervalMs = 250;
const maxPolls = 240;

/** What these orders sold, in minor units. */
export function sumSales(orders: readonly OrderLiveInput[]): number {
  return orders
    .filter(({ data }) => !data.isCanceled && !data.isTransferred && !data.isTraining)
    .reduce((sum, { data }) => sum + data.total, 0);
}

/** An amount as people write it. */
function formatEuros(minorUnits: number): string {
  return `${(minorUnits / 100).toFixed(2)} EUR`;
}

/** Says that a day begins. Returns what says, some twenty times a day, how far it is and how its orders stand. */
function createProgressLog(
  { clock, log }: SimulationContext,
  day: OrderSchedule,
  orders: ReadonlyMap<string, OrderLiveInput>,
): () => void {
  const startsAt = clock.now();
  const length = Math.max(1_000, day.closesAt - startsAt);
  const lengthText = length < 120_000 ? `${Math.round(length / 1_000)} s` : `${Math.round(length / 60_000)} min`;
  log(`Till open: ${day.till.orderList.length} orders and ${day.revisions.length} changes to come in ${lengthText}`);
  let last = startsAt;
  return () => {
    if (clock.now() - last < Math.max(1_000, length / 20)) return;
    last = clock.now();
    const all = [...orders.values()].map(({ data }) => data);
    const open = all.filter(({ closedAt }) => closedAt === null).length;
    const paid = all.filter(({ isPaid }) => isPaid).reduce((sum, { total }) => sum + total, 0);
    const percent = Math.round(Math.min(1, (last - startsAt) / length) * 100);
    log(`${percent}%  ${open} open, ${all.length - open} closed, paid ${formatEuros(paid)}`);
  };
}

/** Returns the live orders that this restaurant's device has sent, by the till that they belong to. */
export async function findDeviceLiveOrders({ api, restaurant }: SimulationContext): Promise<Map<string, OrderData[]>> {
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
  context: SimulationContext,
  ordersByTill: ReadonlyMap<string, OrderData[]>,
): Promise<void> {
  const { api, restaurant, clock, log } = context;
  for (const [id, left] of ordersByTill) {
    const known = await nullOnProblem(api.GET("/v1/tills/{id}", { params: { path: { id } } }), "till_not_found");
    if (known !== null) continue;
    const finalizedAt = new Date(clock.now()).toISOString();
    const [startedAt = finalizedAt] = left.map(({ openedAt }) => openedAt).sort();
    const orderList = left.map((order) => payAndCloseOrder(restaurant, order, finalizedAt));
    const settled = orderList.map((order) => createLiveOrder(restaurant.establishment, order));
    for (let first = 0; first < settled.length; first += maxLiveOrdersPerRequest)
      await api.POST("/v1/orders-live", { body: settled.slice(first, first + maxLiveOrdersPerRequest) });
    const reportNumber = await readNextReportNumber(context);
    await pushTillAndAwaitReport(
      context,
      createClosedTill(restaurant, { id, startedAt, finalizedAt, reportNumber, orderList }),
    );
    log(`Till of an earlier play closed: ${settled.length} orders, sales ${formatEuros(sumSales(settled))}`);
  }
}

/** An order as it is once a guest has paid what is left by card at this time. One that is closed stays as it is. */
function payAndCloseOrder({ paymentMethods }: Restaurant, order: OrderData, at: string): OrderData {
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
  const paid = createPaymentRow(random.uuid(), paymentMethods.card, at, leftToPay);
  const paymentRowList = [...order.paymentRowList, { ...paid, operatorId, operatorName }];
  return { ...closed, isPaid: true, paidAt: at, leftToPay: 0, paymentRowList };
}
