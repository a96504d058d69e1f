import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createApiClient } from "@pragma/client/api-client";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEventEnvelopes } from "@pragma/runtime/testing/published-events";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRevisionsOfTillOrders } from "@pragma/simulator/order-revisions";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { formatErrorWithCauses } from "@pragma/simulator/run-until-stopped";
import {
  type SimulatedDayResult,
  type SimulationContext,
  sumSalesOfSimulatedOrders,
} from "@pragma/simulator/simulate-day";
import {
  type LocationSimulationOptions,
  simulateLocation,
  simulateLocations,
} from "@pragma/simulator/simulate-locations";
import { parseSimulateCommandOptions } from "@pragma/simulator/simulate-options";
import { createRetryOptions, systemClock } from "@pragma/simulator/transient-retry-options";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertGeneratedTillToV1 } from "./harness/convert-till-to-v1.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { type ReconnectingStreamClient, startReconnectingStreamClient } from "./harness/reconnecting-stream-client.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ RATE_LIMIT_PER_SECOND: "1000", RATE_LIMIT_BURST: "10000" });
  product = await startPragmaUnderTest(environment.variables);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const createRestaurantLocation = () =>
  createTestLocation(product, { scopes: ["orders:read", "orders:write", "reports:read", "tills:read", "tills:write"] });

/** Options with which the simulation of a day of 16 hours lasts about ten seconds. */
const options: LocationSimulationOptions = { seed: "a day", days: 1, orders: 40, speed: 6_000 };

function createSimulationContext(
  testLocation: TestLocation,
  { seed }: LocationSimulationOptions,
  overrides: Partial<SimulationContext> = {},
): SimulationContext {
  const control = { clock: systemClock, signal: new AbortController().signal, log: () => {}, ...overrides };
  return {
    api: createApiClient({
      baseUrl: product.url,
      apiKey: testLocation.key,
      ...createRetryOptions(control),
    }),
    restaurant: generateRestaurant(seed),
    locationId: testLocation.locationId,
    maxCallsPerSecond: 100,
    ...overrides,
    ...control,
  };
}

const readReportOf = async (testLocation: TestLocation, { report }: SimulatedDayResult) =>
  (await testLocation.api.GET("/v2/reports/{id}", { params: { path: { id: report?.id ?? "" } } })).data;

const countLiveOrders = async (testLocation: TestLocation) =>
  (await testLocation.api.GET("/v1/orders-live")).data.meta.totalCount;

type LiveOrder = SimulatedDayResult["till"]["orderList"][number] & { tillId: string };

describe("a simulated day", () => {
  let testLocation: TestLocation;
  let reader: ReconnectingStreamClient;
  let simulated: SimulatedDayResult;
  beforeAll(async () => {
    testLocation = await createRestaurantLocation();
    reader = startReconnectingStreamClient([`${product.url}/v1/orders-live/stream`], testLocation.key);
    await reader.waitUntilReady();
    simulated = (await simulateLocation(createSimulationContext(testLocation, options), options)) as SimulatedDayResult;
    const listed = simulated.till.orderList.filter(({ isTraining }) => !isTraining);
    await eventually("the removal of the orders", () => {
      return reader.orderEvents.filter(({ type }) => type === "left").length === listed.length;
    });
    await reader.stop();
  }, 60_000);

  /** Returns the last revision of each order that the stream has sent. */
  const listLastRevisions = () => {
    const orders = new Map<string, LiveOrder>();
    for (const { type, data } of reader.orderEvents)
      if (type === "order") orders.set(data.id as string, data.data as LiveOrder);
    return [...orders.values()];
  };

  it("has each revision of each order on the stream", () => {
    const revisions = generateRevisionsOfTillOrders(simulated.till).map(({ order }) => order);
    const shown = reader.orderEvents.filter(({ type }) => type === "order").map(({ data }) => data.revisionHash);
    const listed = revisions.filter(({ data }) => !data.isTraining).map(({ revisionHash }) => revisionHash);
    expect(shown.toSorted()).toEqual(listed.toSorted());
  });

  it("ends with a report that equals the live sales and payments", async () => {
    const report = await readReportOf(testLocation, simulated);
    const orders = listLastRevisions();
    const countedOrders = orders.filter(({ isCanceled, isTransferred }) => !isCanceled && !isTransferred);
    expect(report.totalSales).toBe(countedOrders.reduce((sum, { total }) => sum + total, 0));
    expect(report.totalSales).toBe(simulated.sales);
    expect(report.orderCount).toBe(countedOrders.length);
    const payments = orders.flatMap(({ paymentRowList }) => paymentRowList);
    const paid = payments.filter(({ status }) => status === "validated").reduce((sum, { amount }) => sum + amount, 0);
    expect(report.reportRecordedPayments.reduce((sum, { totalAmount }) => sum + totalAmount, 0)).toBe(paid);
    expect(report.orders.map(({ id }) => id).toSorted()).toEqual(orders.map(({ id }) => id).toSorted());
  });

  it("leaves no live orders", async () => {
    expect(await countLiveOrders(testLocation)).toBe(0);
  });

  it("publishes one final event for each order, and kitchen calls before the final event", async () => {
    const eventsByOrderId = new Map<string, string[]>();
    for (const { type, subject } of await listPublishedTestEventEnvelopes(environment))
      if (type.startsWith("order.")) eventsByOrderId.set(subject, [...(eventsByOrderId.get(subject) ?? []), type]);
    for (const order of simulated.till.orderList) {
      const events = eventsByOrderId.get(order.id) ?? [];
      const finalEvents = events.filter((type) => type !== "order.call");
      const isPaidFirst = order.isPaid || (order.isCanceled && order.paidAt !== null);
      expect(finalEvents).toEqual([
        ...(isPaidFirst && !order.isTraining ? ["order.paid"] : []),
        ...(order.isCanceled && !order.isTraining ? ["order.canceled"] : []),
        ...(order.isTransferred && !order.isTraining ? ["order.transferred"] : []),
      ]);
      expect(events.includes("order.call")).toBe(!order.isTraining);
    }
  });
});

describe("the till of a generated day in the V1 format", () => {
  it("has a report with the same sales, and removes the day's live orders", async () => {
    const testLocation = await createRestaurantLocation();
    const till = generateTill({ seed: "V1", orders: 40, day: "2026-05-29", tillId: randomUUID() });
    const revisions = generateRevisionsOfTillOrders(till).map(({ order }) => order);
    const opened = new Map(revisions.toReversed().map((order) => [order.id, order]));
    await testLocation.api.POST("/v1/orders-live", { body: [...opened.values()] });
    expect(await countLiveOrders(testLocation)).toBeGreaterThan(30);

    const body = convertGeneratedTillToV1(till, { application: "POPINA", legacyId: testLocation.legacyId });
    await testLocation.api.POST("/v1/tills", { body });
    const [listed] = await testLocation.waitForReports(1);
    const { data: report } = await testLocation.api.GET("/v2/reports/{id}", {
      params: { path: { id: listed?.id ?? "" } },
    });
    const sales = sumSalesOfSimulatedOrders(revisions.filter(({ data }) => data.closedAt !== null));
    const countedOrders = till.orderList.filter(
      (order) => !order.isTraining && !order.isCanceled && !order.isTransferred,
    );
    expect(report.totalSales).toBe(sales);
    expect(report.orderCount).toBe(countedOrders.length);
    const taxes = report.reportTaxes.reduce((sum, { taxAmount, taxableAmount }) => sum + taxAmount + taxableAmount, 0);
    expect(taxes).toBe(sales);
    await eventually("the removal of the orders", async () => (await countLiveOrders(testLocation)) === 0);
  }, 30_000);
});

describe("an interrupted simulation", () => {
  it("leaves live orders, and the next simulation of the restaurant closes only their till", async () => {
    const testLocation = await createRestaurantLocation();
    const overrides = createOtherDeviceOrder();
    const stop = new AbortController();
    const simulation = simulateLocation(
      createSimulationContext(testLocation, options, { signal: stop.signal }),
      options,
    );
    await eventually("some orders to be live", async () => (await countLiveOrders(testLocation)) > 20);
    stop.abort(new Error("enough"));
    expect(await simulation.catch(formatErrorWithCauses)).toContain("enough");
    const liveOrderCount = await waitForStableLiveCount(testLocation);
    expect(liveOrderCount).toBeGreaterThan(20);

    await testLocation.api.POST("/v1/orders-live", { body: [overrides] });
    const lines: string[] = [];
    const noDays = { ...options, days: 0 };
    await simulateLocation(createSimulationContext(testLocation, noDays, { log: (line) => lines.push(line) }), noDays);
    expect(lines).toEqual([expect.stringContaining(`Closed an interrupted till: ${liveOrderCount} orders`)]);
    expect((await testLocation.api.GET("/v1/orders-live")).data.data.map(({ id }) => id)).toEqual([overrides.id]);
    const [report] = await testLocation.waitForReports(1);
    const { data: v2 } = await testLocation.api.GET("/v2/reports/{id}", { params: { path: { id: report?.id ?? "" } } });
    expect(v2.orders).toHaveLength(liveOrderCount);
    expect(v2.reportNumber).toBe(1);
  }, 30_000);
});

/** Waits until the number of live orders has not changed for half a second, and returns this number. */
async function waitForStableLiveCount(testLocation: TestLocation): Promise<number> {
  return eventually("the last upsert to arrive", async () => {
    const before = await countLiveOrders(testLocation);
    await sleep(500);
    return (await countLiveOrders(testLocation)) === before && before;
  });
}

/** Returns an open order that another device of the same location could have created. */
function createOtherDeviceOrder(): OrderLiveInput {
  const [first] = generateRevisionsOfTillOrders(generateTill({ seed: "other", orders: 1, day: "2026-05-29" }));
  if (!first) throw new Error("The day has no orders");
  return first.order;
}

describe("npm run simulate", () => {
  it("creates locations with an admin key, simulates them, and revokes the keys that it created", async () => {
    const parsedOptions = parseSimulateCommandOptions(
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
      ],
      {},
    );
    if (typeof parsedOptions === "string") throw new Error(parsedOptions);
    const lines: string[] = [];
    await simulateLocations(parsedOptions, {
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
