import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createApiClient } from "@pragma/client/api-client";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { readPublishedEnvelopes } from "@pragma/runtime/testing/published-events";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateOrderRevisions } from "@pragma/simulator/order-revisions";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { formatErrorWithCauses } from "@pragma/simulator/run-until-stopped";
import { type SimulatedDay, type SimulationContext, sumSales } from "@pragma/simulator/simulate-day";
import {
  type LocationSimulationOptions,
  simulateLocation,
  simulateLocations,
} from "@pragma/simulator/simulate-locations";
import { readSimulateOptions } from "@pragma/simulator/simulate-options";
import { createTransientRetryOptions, systemClock } from "@pragma/simulator/transient-retry-options";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertTillToV1 } from "./harness/convert-till-to-v1.ts";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { type ReconnectingStreamClient, startReconnectingStreamClient } from "./harness/reconnecting-stream-client.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: TestEnvironment;
let product: ProductUnderTest;
beforeAll(async () => {
  environment = await createTestEnvironment({ RATE_LIMIT_PER_SECOND: "1000", RATE_LIMIT_BURST: "10000" });
  product = await startProductUnderTest(environment.variables);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const createRestaurantLocation = () =>
  createTestLocation(product, { scopes: ["orders:read", "orders:write", "reports:read", "tills:read", "tills:write"] });

/** A day of sixteen hours in one second. */
const options: LocationSimulationOptions = {
  seed: "a day",
  days: 1,
  forever: false,
  history: 0,
  orders: 40,
  speed: 60_000,
  from: "2026-05-29",
};

function createSimulationContext(
  shop: TestLocation,
  { seed }: LocationSimulationOptions,
  other: Partial<SimulationContext> = {},
): SimulationContext {
  const control = { clock: systemClock, signal: new AbortController().signal, log: () => {}, ...other };
  return {
    api: createApiClient({ baseUrl: product.url, apiKey: shop.key, ...createTransientRetryOptions(control) }),
    restaurant: generateRestaurant(seed),
    timeZone: "Europe/Paris",
    locationId: shop.locationId,
    maxCallsPerSecond: 100,
    ...other,
    ...control,
  };
}

const readReportOf = async (shop: TestLocation, { report }: SimulatedDay) =>
  (await shop.api.GET("/v2/reports/{id}", { params: { path: { id: report?.id ?? "" } } })).data;

const countLiveOrders = async (shop: TestLocation) => (await shop.api.GET("/v1/orders-live")).data.meta.totalCount;

type LiveOrder = SimulatedDay["till"]["orderList"][number] & { tillId: string };

/** The same day, as fast as it can be sent. */
const fastestOptions: LocationSimulationOptions = { ...options, speed: 1_000_000 };

describe("a day that is played", () => {
  let shop: TestLocation;
  let reader: ReconnectingStreamClient;
  let played: SimulatedDay;
  beforeAll(async () => {
    shop = await createRestaurantLocation();
    reader = startReconnectingStreamClient([`${product.url}/v1/orders-live/stream`], shop.key);
    await reader.waitUntilReady();
    played = (await simulateLocation(createSimulationContext(shop, options), options)) as SimulatedDay;
    const listed = played.till.orderList.filter(({ isTraining }) => !isTraining);
    await eventually("the orders to leave", () => {
      return reader.orderEvents.filter(({ type }) => type === "left").length === listed.length;
    });
    await reader.stop();
  }, 60_000);

  /** What the stream said of each order last, before it left. */
  const lastShown = () => {
    const orders = new Map<string, LiveOrder>();
    for (const { type, data } of reader.orderEvents)
      if (type === "order") orders.set(data.id as string, data.data as LiveOrder);
    return [...orders.values()];
  };

  it("has each change of each order taken and shown", () => {
    const revisions = generateOrderRevisions(played.till).map(({ order }) => order);
    const shown = reader.orderEvents.filter(({ type }) => type === "order").map(({ data }) => data.revisionHash);
    const listed = revisions.filter(({ data }) => !data.isTraining).map(({ revisionHash }) => revisionHash);
    expect(shown.toSorted()).toEqual(listed.toSorted());
  });

  it("ends in a report of exactly what was sold and paid live", async () => {
    const report = await readReportOf(shop, played);
    const orders = lastShown();
    const counting = orders.filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred);
    expect(report.totalSales).toBe(counting.reduce((sum, { total }) => sum + total, 0));
    expect(report.totalSales).toBe(played.sales);
    expect(report.orderCount).toBe(counting.length);
    const payments = orders.flatMap(({ paymentRowList }) => paymentRowList);
    const paid = payments.filter(({ status }) => status === "validated").reduce((sum, { amount }) => sum + amount, 0);
    expect(report.reportRecordedPayments.reduce((sum, { totalAmount }) => sum + totalAmount, 0)).toBe(paid);
    expect(report.orders.map(({ id }) => id).toSorted()).toEqual(orders.map(({ id }) => id).toSorted());
  });

  it("leaves nothing live", async () => {
    expect(await countLiveOrders(shop)).toBe(0);
  });

  it("tells of each order as it ends, once, and of calls of the kitchen before", async () => {
    const told = new Map<string, string[]>();
    for (const { type, subject } of await readPublishedEnvelopes(environment))
      if (type.startsWith("order.")) told.set(subject, [...(told.get(subject) ?? []), type]);
    for (const order of played.till.orderList) {
      const events = told.get(order.id) ?? [];
      const endings = events.filter((type) => type !== "order.call");
      const isPaidFirst = order.isPaid || (order.isCanceled && order.paidAt !== null);
      expect(endings).toEqual([
        ...(isPaidFirst && !order.isTraining ? ["order.paid"] : []),
        ...(order.isCanceled && !order.isTraining ? ["order.canceled"] : []),
        ...(order.isTransferred && !order.isTraining ? ["order.transferred"] : []),
      ]);
      expect(events.includes("order.call")).toBe(!order.isTraining);
    }
  });

  it("can be played again, and changes nothing", async () => {
    const again = await simulateLocation(createSimulationContext(shop, fastestOptions), fastestOptions);
    expect(again).toMatchObject({ till: played.till, report: { totalSales: played.sales } });
    expect(await countLiveOrders(shop)).toBe(0);
  });
});

describe("the till of a generated day in the older format", () => {
  it("makes a report of the same sales, and takes the day's orders out of the live ones", async () => {
    const shop = await createRestaurantLocation();
    const till = generateTill({ seed: "older", orders: 40, day: "2026-05-29", tillId: randomUUID() });
    const revisions = generateOrderRevisions(till).map(({ order }) => order);
    const opened = new Map(revisions.toReversed().map((order) => [order.id, order]));
    await shop.api.POST("/v1/orders-live", { body: [...opened.values()] });
    expect(await countLiveOrders(shop)).toBeGreaterThan(30);

    const body = convertTillToV1(till, { application: "POPINA", legacyId: shop.legacyId });
    await shop.api.POST("/v1/tills", { body });
    const [listed] = await shop.waitForReports(1);
    const { data: report } = await shop.api.GET("/v2/reports/{id}", { params: { path: { id: listed?.id ?? "" } } });
    const sales = sumSales(revisions.filter(({ data }) => data.closedAt !== null));
    const counting = till.orderList.filter((order) => !order.isTraining && !order.isCanceled && !order.isTransferred);
    expect(report.totalSales).toBe(sales);
    expect(report.orderCount).toBe(counting.length);
    const taxes = report.reportTaxes.reduce((sum, { taxAmount, taxableAmount }) => sum + taxAmount + taxableAmount, 0);
    expect(taxes).toBe(sales);
    await eventually("the orders to leave", async () => (await countLiveOrders(shop)) === 0);
  }, 30_000);
});

describe("a play that is broken off", () => {
  it("leaves its orders live, and the next play of the restaurant closes their till and no other's", async () => {
    const shop = await createRestaurantLocation();
    const other = createOtherDeviceOrder();
    const stop = new AbortController();
    const present = { ...options, speed: 20_000, from: undefined };
    const play = simulateLocation(createSimulationContext(shop, present, { signal: stop.signal }), present);
    await eventually("some orders to be live", async () => (await countLiveOrders(shop)) > 20);
    stop.abort(new Error("enough"));
    expect(await play.catch(formatErrorWithCauses)).toContain("enough");
    const left = await waitForStableLiveCount(shop);
    expect(left).toBeGreaterThan(20);

    await shop.api.POST("/v1/orders-live", { body: [other] });
    const lines: string[] = [];
    const none = { ...present, days: 0 };
    await simulateLocation(createSimulationContext(shop, none, { log: (line) => lines.push(line) }), none);
    expect(lines).toEqual([expect.stringContaining(`Closed an interrupted till: ${left} orders`)]);
    expect((await shop.api.GET("/v1/orders-live")).data.data.map(({ id }) => id)).toEqual([other.id]);
    const [report] = await shop.waitForReports(1);
    const { data: v2 } = await shop.api.GET("/v2/reports/{id}", { params: { path: { id: report?.id ?? "" } } });
    expect(v2.orders).toHaveLength(left);
    expect(v2.reportNumber).toBe(1);
  }, 30_000);
});

/** How many orders are live once what was being sent when the play ended has arrived. */
async function waitForStableLiveCount(shop: TestLocation): Promise<number> {
  return eventually("the last call to arrive", async () => {
    const before = await countLiveOrders(shop);
    await sleep(500);
    return (await countLiveOrders(shop)) === before && before;
  });
}

/** An open order that another device sends. */
function createOtherDeviceOrder(): OrderLiveInput {
  const [first] = generateOrderRevisions(generateTill({ seed: "other", orders: 1, day: "2026-05-29" }));
  if (!first) throw new Error("The day has no orders");
  return first.order;
}

describe("npm run simulate", () => {
  it("makes locations with an admin key, plays them, and takes its keys back", async () => {
    const read = readSimulateOptions(
      [
        "--admin-key",
        product.adminKey,
        "--url",
        product.url,
        "--locations",
        "2",
        "--speed",
        "60000",
        "--rate",
        "100",
        "--orders",
        "8",
        "--history",
        "1",
      ],
      {},
    );
    if (typeof read === "string") throw new Error(read);
    const lines: string[] = [];
    await simulateLocations(read, {
      clock: systemClock,
      signal: new AbortController().signal,
      log: (line) => lines.push(line),
    });
    expect(lines.filter((line) => /^[12] {2}Till closed: 8 orders, .*report/.test(line))).toHaveLength(2);
    expect(lines.filter((line) => line.includes("The report says"))).toEqual([]);
    const keys: (string | null)[] = [];
    for await (const { consumerName, revokedAt } of createTestAdminClient(product).items("/v1/auth/keys"))
      if (consumerName === "Pragma simulator") keys.push(revokedAt);
    expect(keys).toEqual([expect.any(String), expect.any(String)]);
  }, 30_000);
});
