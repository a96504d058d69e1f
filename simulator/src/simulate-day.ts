import type { PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { maxLiveOrdersPerRequest, type OrderLiveInput } from "@pragma/contracts/order-live";
import { createPaymentRow } from "./generate-payments.ts";
import { buildGeneratedTillFromOrders, type GeneratedTill } from "./generate-till.ts";
import { buildSimulatedOrderLiveInput, type SimulatedDay, splitDueRevisions } from "./order-revisions.ts";
import { SeededRandom } from "./random.ts";
import type { GeneratedRestaurant } from "./restaurant.ts";
import type { SimulationControl } from "./transient-retry-options.ts";

export interface SimulationContext extends SimulationControl {
  /** The API client with the location's key. It retries without limit while the API fails temporarily. */
  readonly api: PublicApiClient;
  readonly restaurant: GeneratedRestaurant;
  /** The id of the location. It is part of the seed, so that different locations have different tills. */
  readonly locationId: string;
  readonly maxCallsPerSecond: number;
}

export type SimulatedDayResult = Awaited<ReturnType<typeof simulateRestaurantDay>>;

/**
 * Sends each revision when it is due, then pushes the till. `sales` are those of the orders' last revisions, in minor units.
 * `report` is null if, after a minute, it was not available or some orders of the till were still live orders.
 * @throws `ApiProblem` if a request is rejected.
 */
export async function simulateRestaurantDay(context: SimulationContext, schedule: SimulatedDay) {
  const { clock, signal, log } = context;
  const orders = new Map<string, OrderLiveInput>();
  const closesAtMs = Date.parse(schedule.till.finalizedAt);
  const seconds = Math.max(1, Math.round((closesAtMs - clock.now()) / 1_000));
  const duration = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const { orderList: scheduledOrders } = schedule.till;
  log(`Till open: ${scheduledOrders.length} orders with ${schedule.revisions.length} changes in ${duration}`);
  let queue = schedule.revisions;
  while (queue.length > 0) {
    const { batch, rest } = splitDueRevisions(queue, clock.now());
    if (batch.length === 0) {
      await clock.wait(Math.max(1, (queue[0]?.atMs ?? 0) - clock.now()), signal);
      continue;
    }
    const changedOrders = batch.map(({ order }) => order);
    await context.api.POST("/v1/orders-live", { body: changedOrders });
    for (const order of changedOrders) orders.set(order.id, order);
    queue = rest;
    await clock.wait(1000 / context.maxCallsPerSecond, signal);
  }
  await clock.wait(Math.max(0, closesAtMs - clock.now()), signal);
  const reportNumber = await readNextReportNumber(context);
  const orderList = scheduledOrders.map((order) => orders.get(order.id)?.data ?? order);
  const till = { ...schedule.till, reportNumber, orderList };
  const sales = sumSalesOfSimulatedOrders([...orders.values()]);
  const report = await pushTillAndAwaitReport(context, till);
  const outcome = report ? `report ${report.id}` : "its report is not available yet";
  log(`Till closed: ${till.orderList.length} orders, sales ${formatEuros(sales)}; ${outcome}`);
  if (report && report.totalSales !== sales) log(`The sales of the report differ: ${formatEuros(report.totalSales)}`);
  return { till, sales, report };
}

async function readNextReportNumber({ api }: SimulationContext): Promise<number> {
  const { data: reports } = await api.GET("/v2/reports", { params: { query: { size: 1 } } });
  const [newest] = reports.data;
  if (!newest) return 1;
  const { data: report } = await api.GET("/v2/reports/{id}", { params: { path: { id: newest.id } } });
  return report.reportNumber + 1;
}

/** Pushes a till. Ignores the error till_conflict, which means that the till already exists with other content. */
export async function pushGeneratedTill(api: PublicApiClient, till: GeneratedTill): Promise<void> {
  await nullOnProblem(api.POST("/v2/tills", { body: till }), "till_conflict");
}

/** Returns the report as a list item; null if it is not available, or orders are still live, after a minute. */
async function pushTillAndAwaitReport({ api, clock, signal }: SimulationContext, till: GeneratedTill) {
  await pushGeneratedTill(api, till);
  const { id: tillId } = till;
  for (let polls = 0; polls < maxPolls; polls++) {
    const { data: reports } = await api.GET("/v2/reports", { params: { query: { size: 100 } } });
    const report = reports.data.find((listed) => listed.tillId === tillId);
    const { data: live } = await api.GET("/v1/orders-live", { params: { query: { tillId, size: 1 } } });
    if (report && live.meta.totalCount === 0) return report;
    await clock.wait(pollIntervalMs, signal);
  }
  return null;
}

const pollIntervalMs = 250;
const maxPolls = 240;

export function sumSalesOfSimulatedOrders(orders: readonly OrderLiveInput[]): number {
  return orders
    .filter(({ data }) => !data.isCanceled && !data.isTransferred && !data.isTraining)
    .reduce((sum, { data }) => sum + data.total, 0);
}

const formatEuros = (minorUnits: number) => `${(minorUnits / 100).toFixed(2)} EUR`;

export async function fetchDeviceLiveOrdersByTillId({ api, restaurant }: SimulationContext) {
  const byTill = new Map<string, PosOrderData[]>();
  for await (const { tillId, data } of api.items("/v1/orders-live")) {
    if (data.deviceIdentifier !== restaurant.device.id) continue;
    byTill.set(tillId, [...(byTill.get(tillId) ?? []), data]);
  }
  return byTill;
}

/** Pays and closes open orders, and pushes their tills, unless they were pushed before. */
export async function pushInterruptedTills(
  context: SimulationContext,
  ordersByTill: ReadonlyMap<string, PosOrderData[]>,
): Promise<void> {
  const { api, restaurant, clock, log } = context;
  if (ordersByTill.size === 0) return;
  const pushedTillIds = await readTillIds(api);
  for (const [id, orders] of ordersByTill) {
    if (pushedTillIds.has(id)) continue;
    const finalizedAt = new Date(clock.now()).toISOString();
    const [startedAt = finalizedAt] = orders.map(({ openedAt }) => openedAt).sort();
    const orderList = orders.map((order) => payAndCloseOrder(restaurant, order, finalizedAt));
    const closedOrders = orderList.map((order) => buildSimulatedOrderLiveInput(restaurant.establishment, order));
    for (let first = 0; first < closedOrders.length; first += maxLiveOrdersPerRequest)
      await api.POST("/v1/orders-live", { body: closedOrders.slice(first, first + maxLiveOrdersPerRequest) });
    const reportNumber = await readNextReportNumber(context);
    const closed = { id, startedAt, finalizedAt, reportNumber, orderList };
    await pushTillAndAwaitReport(context, buildGeneratedTillFromOrders(restaurant, closed));
    const sales = formatEuros(sumSalesOfSimulatedOrders(closedOrders));
    log(`Closed an interrupted till: ${closedOrders.length} orders, sales ${sales}`);
  }
}

/** Returns the IDs of all tills of the location. A request for a till that does not exist would fail. */
async function readTillIds(api: PublicApiClient): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const query = { sinceDate: "2000-01-01T00:00:00Z" };
  for await (const { id } of api.items("/v1/tills", { params: { query } })) ids.add(id);
  return ids;
}

/** Returns the order, closed at this time. Pays the amount due, if any, by card. Returns a closed order unchanged. */
export function payAndCloseOrder(
  { paymentMethods }: GeneratedRestaurant,
  order: PosOrderData,
  at: string,
): PosOrderData {
  if (order.closedAt !== null) return order;
  const { operatorId, operatorName, leftToPay } = order;
  const isDone = order.isPaid || order.isCanceled || order.isTransferred;
  const isDue = !isDone && leftToPay > 0;
  const random = new SeededRandom(`settle/${order.id}`);
  const [revisionHash, signature] = [random.uuid(), random.hex(64)];
  const manuallyClosed = !isDone && !isDue;
  const closed = { ...order, revisionHash, modifiedAt: at, closedAt: at, signature, manuallyClosed };
  if (!isDue) return closed;
  const paid = createPaymentRow(random.uuid(), paymentMethods.card, at, leftToPay);
  const paymentRowList = [...order.paymentRowList, { ...paid, operatorId, operatorName }];
  return { ...closed, isPaid: true, paidAt: at, leftToPay: 0, paymentRowList };
}
