import { randomUUID } from "node:crypto";
import type { PublicApiClient } from "@pragma/client/api-client";
import { ApiProblem, nullOnProblem } from "@pragma/client/api-problem";
import { ApiError, type ApiErrorCode, apiErrorDefinitions } from "@pragma/contracts/errors";
import type { PosOrderData } from "@pragma/contracts/order-data";
import type { CreateSandboxEventRequest, SandboxEvent } from "@pragma/contracts/sandbox";
import { createInvalidRequestError } from "@pragma/runtime/http/request-issues";
import { demoRestaurantSeed, generateDemoTill } from "@pragma/simulator/demo-location";
import { buildGeneratedTillFromOrders, generateTill } from "@pragma/simulator/generate-till";
import {
  buildSimulatedOrderLiveInput,
  createSimulatedSchedule,
  generateRevisionsOfTillOrders,
} from "@pragma/simulator/order-revisions";
import { SeededRandom } from "@pragma/simulator/random";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { getLocalDate } from "@pragma/simulator/service-day";
import { payAndCloseOrder, pushGeneratedTill } from "@pragma/simulator/simulate-day";
import { createSandboxClient, type SandboxServices } from "./context.ts";
import { pushSandboxTill, withOwnCompany } from "./push-sandbox-till.ts";
import {
  recordClosedOrder,
  removeClosedOrder,
  returnEventTillNumber,
  type SandboxWithLocation,
  takeEventTillNumber,
} from "./queries/sandboxes.ts";
import { listSandboxDays, sandboxTillShare } from "./sandbox-days.ts";

interface EventContext {
  services: SandboxServices;
  sandbox: SandboxWithLocation;
  api: PublicApiClient;
  request: CreateSandboxEventRequest;
}

type EventResult = Partial<Omit<SandboxEvent, "type" | "links">> & { links: Record<string, string> };

/** The retries of each request to the API, because the client waits for the response. */
const retries = 2;

/**
 * Lets something happen in a sandbox, and returns what changed, with paths of requests that show it.
 *
 * @throws `ApiError` invalid_request, and the errors of the requests to the API, such as order_not_found.
 */
export async function runSandboxEvent(
  services: SandboxServices,
  sandbox: SandboxWithLocation,
  request: CreateSandboxEventRequest,
): Promise<EventResult> {
  const api = createSandboxClient(services, sandbox, retries);
  try {
    return await eventRunners[request.type]({ services, sandbox, api, request });
  } catch (error) {
    if (!(error instanceof ApiProblem && error.code in apiErrorDefinitions)) throw error;
    throw new ApiError(error.code as ApiErrorCode, { detail: error.detail, cause: error });
  }
}

const restaurant = generateRestaurant(demoRestaurantSeed);

/** Leaves out orders that are not simply ordered and paid. */
const paidOrdersOnly = {
  ...{ canceledOrder: 0, transferredOrder: 0, refundOrder: 0, giftedOrder: 0, trainingOrder: 0 },
  ...{ canceledRow: 0, canceledMenu: 0, refundRow: 0 },
};

const eventRunners: Record<CreateSandboxEventRequest["type"], (context: EventContext) => Promise<EventResult>> = {
  "till.pushed": pushTill,
  "order.call": async (context) => describeOrder(await openOrder(context)),
  "order.paid": (context) => closeOrder(context, (order, at) => payAndCloseOrder(restaurant, order, at)),
  "order.canceled": (context) =>
    closeOrder(context, (order, at) => ({
      ...{ ...order, revisionHash: randomUUID(), modifiedAt: at, closedAt: at, leftToPay: 0 },
      ...{ isCanceled: true, canceledAt: at, canceledReason: "Client parti" },
    })),
  "order.transferred": (context) =>
    closeOrder(context, (order, at) => ({
      ...{ ...order, revisionHash: randomUUID(), modifiedAt: at, closedAt: at, leftToPay: 0 },
      ...{ isTransferred: true, transferredAt: at, transferredTo: "Chambre 12" },
    })),
  async "day.broken"({ services: { db }, sandbox, api, request: { problem } }) {
    const [newest] = listSandboxDays(sandbox);
    const { day, tillId } = newest;
    const broken = generateDemoTill(sandbox.locationId, newest, { share: sandboxTillShare, problem });
    const body = withOwnCompany(sandbox.locationId, broken);
    const replacing = api.PUT("/v1/tills/{id}", { params: { path: { id: tillId } }, body });
    if ((await nullOnProblem(replacing, "till_not_found")) === null) await pushGeneratedTill(api, body);
    await db.sql`update sandboxes set newest_day_problem = ${problem} where id = ${sandbox.id}`;
    return { tillId, day, links: { "The business day": `/v1/days/${day}` } };
  },
  async "delivery.failed"({ services: { db }, sandbox: { id }, request: { count } }) {
    await db.sql`update sandboxes set failing_deliveries = ${count} where id = ${id}`;
    return { failingDeliveries: count, links: { "The inbox": "/v1/sandboxes/current/messages" } };
  },
};

/** Returns the id of the till of the orders that events open. Its shift ends with the next event `till.pushed`. */
const getEventTillId = ({ locationId, pushedTillCount }: Pick<SandboxWithLocation, "locationId" | "pushedTillCount">) =>
  new SeededRandom(`events/${locationId}/${pushedTillCount}`).uuid();

async function sendOrder(api: PublicApiClient, order: PosOrderData): Promise<void> {
  await api.POST("/v1/orders-live", { body: [buildSimulatedOrderLiveInput(restaurant.establishment, order)] });
}

const describeOrder = ({ id: orderId }: PosOrderData): EventResult => ({
  orderId,
  links: { "The live order": `/v1/orders-live/${orderId}` },
});

/** Sends a new order, as it is before its payment. */
async function openOrder({ api, sandbox }: EventContext): Promise<PosOrderData> {
  const day = getLocalDate(Date.now()).toString();
  const till = generateTill({ seed: demoRestaurantSeed, orders: 5, day, tillId: randomUUID(), mix: paidOrdersOnly });
  const open = generateRevisionsOfTillOrders(till).filter(
    ({ order: { data } }) => data.closedAt === null && !data.isPaid && data.leftToPay === data.total && data.total > 0,
  );
  const last = open.at(-1);
  if (!last) throw new Error("The till has no order that was open.");
  // Its last change is now.
  const { revisions } = createSimulatedSchedule(till, (at) => Date.now() + at - last.atMs);
  const found = revisions.find(({ order }) => order.revisionHash === last.order.revisionHash);
  if (!found) throw new Error("The order has no such revision.");
  // Without a bill, because a cancellation after it would fail a check of the day.
  const withoutBill = { firstBillPrintDate: null, billPrintCount: 0 };
  const order = { ...found.order.data, ...withoutBill, tillId: getEventTillId(sandbox) };
  await sendOrder(api, order);
  return order;
}

/** Closes the order in the request, or a new one. @throws `ApiError` invalid_request if it is closed already. */
async function closeOrder(
  context: EventContext,
  close: (order: PosOrderData, at: string) => PosOrderData,
): Promise<EventResult> {
  const {
    services: { db },
    sandbox: { id },
    api,
    request,
  } = context;
  const order = request.orderId ? await findOpenOrder(api, request.orderId) : await openOrder(context);
  // Another event may have found the same order open.
  if (!(await recordClosedOrder(db, id, order.id))) throw createClosedOrderError();
  try {
    await sendOrder(api, close(order, new Date().toISOString()));
  } catch (error) {
    await removeClosedOrder(db, id, order.id);
    throw error;
  }
  return describeOrder(order);
}

async function findOpenOrder(api: PublicApiClient, id: string): Promise<PosOrderData> {
  const { data: order } = await api.GET("/v1/orders-live/{id}", { params: { path: { id } } });
  const { isPaid, isCanceled, isTransferred, closedAt } = order.data;
  if (!(isPaid || isCanceled || isTransferred) && closedAt === null) return order.data;
  throw createClosedOrderError();
}

function createClosedOrderError() {
  const message =
    "Must be the ID of an open order. This order is closed, so there is nothing to do. Omit it to open a new order";
  return createInvalidRequestError([{ in: "body", path: "orderId", code: "conflict", message }]);
}

/** The duration of a shift that ends with an event, in milliseconds. */
const eventShiftMs = 60 * 60 * 1000;
/** The maximum number of live orders in the till of such a shift. The client may have sent more orders of this till. */
const maxEventTillOrders = 100;

/** Pushes the next till. Concurrent events push a till each. */
async function pushTill({ services: { db }, sandbox: { id, locationId }, api }: EventContext): Promise<EventResult> {
  const pushedTillCount = await takeEventTillNumber(db, id);
  try {
    return await pushEventTill(api, locationId, getEventTillId({ locationId, pushedTillCount }));
  } catch (error) {
    await returnEventTillNumber(db, id, pushedTillCount);
    throw error;
  }
}

/** Pushes a till of a device of its own, with the orders that events opened and a few others. */
async function pushEventTill(api: PublicApiClient, locationId: string, id: string): Promise<EventResult> {
  const now = Date.now();
  const day = getLocalDate(now).toString();
  const generated = generateTill({ seed: demoRestaurantSeed, orders: 5, day, tillId: id, mix: paidOrdersOnly });
  const [opensAtMs, closesAtMs] = [Date.parse(generated.startedAt), Date.parse(generated.finalizedAt)];
  const { till } = createSimulatedSchedule(
    generated,
    (at) => now - eventShiftMs + ((at - opensAtMs) / (closesAtMs - opensAtMs)) * eventShiftMs,
  );
  // One page, so its size in bytes is limited too.
  const query = { tillId: id, size: maxEventTillOrders };
  const { data: open } = await api.GET("/v1/orders-live", { params: { query } });
  const orders = open.data.map(({ data }) => payAndCloseOrder(restaurant, data, till.finalizedAt));
  const orderList = [...till.orderList, ...orders];
  const { startedAt, finalizedAt } = till;
  await pushSandboxTill(api, locationId, {
    ...buildGeneratedTillFromOrders(restaurant, { id, startedAt, finalizedAt, reportNumber: 1, orderList }),
    ...{ deviceIdentifier: id, deviceName: "iPad Terrasse" },
  });
  return {
    ...{ tillId: id, day: getLocalDate(Date.parse(startedAt)).toString() },
    links: { "The till": `/v1/tills/${id}`, "The newest reports": "/v2/reports?size=1" },
  };
}
