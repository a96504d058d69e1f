import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import {
  buildTestLiveOrderProductRow,
  createChangedTestLiveOrder,
  createTestLiveOrderInput,
} from "@pragma/order-live/testing/order-fixtures";
import { LiveOrderReferenceModel } from "@pragma/order-live/testing/order-model";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEventEnvelopes } from "@pragma/runtime/testing/published-events";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { type ReconnectingStreamClient, startReconnectingStreamClient } from "./harness/reconnecting-stream-client.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
/** The first instance of the installation, which runs in separate processes. */
let splitProduct: PragmaUnderTest;
/** The second instance of the same installation, which runs in one process. */
let allInOneProduct: PragmaUnderTest;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ RATE_LIMIT_PER_SECOND: "1000", RATE_LIMIT_BURST: "10000" });
  splitProduct = await startPragmaUnderTest(environment.variables, {
    split: ["accounts", "till-ingest", "order-live", "reporting"],
  });
  allInOneProduct = await startPragmaUnderTest(environment.variables, { adminKey: splitProduct.adminKey });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await allInOneProduct?.stop();
  await splitProduct?.stop();
  await environment?.remove();
});

const table = (name: string) => sql`${sql(buildServiceSchemaName(environment.namespace, "order-live"))}.${sql(name)}`;
const streams = () => [splitProduct, allInOneProduct].map(({ url }) => `${url}/v1/orders-live/stream`);
const createLiveOrderLocation = () =>
  createTestLocation(splitProduct, { scopes: ["orders:read", "orders:write", "tills:write", "locations:read"] });

/** Sends an order, and retries at alternating instances until the request succeeds, as real points of sale do. */
async function upsertWithRetries({ key }: TestLocation, order: OrderLiveInput, first: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { url } = (first + attempt) % 2 ? splitProduct : allInOneProduct;
    const response = await fetch(`${url}/v1/orders-live/`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify([order]),
    }).catch(() => undefined);
    if (response?.status === 200) {
      await response.arrayBuffer();
      return;
    }
    if (response && response.status < 500)
      throw new Error(`The upsert returned ${response.status}: ${await response.text()}`);
    await response?.body?.cancel();
    await sleep(50);
  }
  throw new Error("The upsert did not succeed.");
}

const orderChanges: ((order: OrderLiveInput) => OrderLiveInput)[] = [
  (order) =>
    createChangedTestLiveOrder(order, {
      productRowList: [...order.data.productRowList.slice(-3), buildTestLiveOrderProductRow()],
    }),
  (order) => createChangedTestLiveOrder(order, { leftToPay: order.data.leftToPay - 1 }),
  (order) => createChangedTestLiveOrder(order, { isPaid: !order.data.isPaid }),
  (order) => createChangedTestLiveOrder(order, { isCanceled: !order.data.isCanceled }),
  (order) => createChangedTestLiveOrder(order, { isTransferred: !order.data.isTransferred }),
];

const orderCount = 50;
const upsertsPerSecond = 20;
const seconds = 14;
const readerCount = 20;

/** The data that one run collects. Several tests check this data. */
interface ServiceRun {
  testLocation: TestLocation;
  orderModel: LiveOrderReferenceModel;
  readers: ReconnectingStreamClient[];
  /** The time of the response to each revision, by revision hash, in milliseconds of `performance.now()`. */
  respondedAt: Map<string, number>;
  /** The periods from the kill of a process to one second after its restart, in `performance.now()` milliseconds. */
  outages: [from: number, to: number][];
  memory: { before: number; after: number };
}

/** Sends changes of many orders at a fixed rate while killing processes. Changes of one order are sent in sequence. */
async function runOrderService(): Promise<ServiceRun> {
  const testLocation = await createLiveOrderLocation();
  const readers = Array.from({ length: readerCount }, (_, index) =>
    startReconnectingStreamClient(index % 2 ? streams() : streams().reverse(), testLocation.key),
  );
  await Promise.all(readers.map((reader) => reader.waitUntilReady()));
  const outcome: ServiceRun = {
    testLocation,
    readers,
    orderModel: new LiveOrderReferenceModel(),
    respondedAt: new Map(),
    outages: [],
    memory: { before: 0, after: 0 },
  };
  const tillId = randomUUID();
  const orders = Array.from({ length: orderCount }, () => createTestLiveOrderInput({}, { tillId }));
  const pendingUpserts = orders.map(() => Promise.resolve());
  const started = performance.now();
  const faultInjection = killProcessesAndReconnect(outcome);
  for (let count = 0; count < upsertsPerSecond * seconds; count += 1) {
    const due = started + (count / upsertsPerSecond) * 1000;
    await sleep(Math.max(0, due - performance.now()));
    const at = count % orderCount;
    const order = orders[at] as OrderLiveInput;
    const next = count < orderCount ? order : (orderChanges[randomInt(orderChanges.length)]?.(order) ?? order);
    orders[at] = next;
    outcome.orderModel.upsert(next);
    pendingUpserts[at] = (pendingUpserts[at] ?? Promise.resolve())
      .then(() => upsertWithRetries(testLocation, next, count))
      .then(() => void outcome.respondedAt.set(next.revisionHash, performance.now()));
    if (count === (upsertsPerSecond * seconds) / 2)
      outcome.memory.before = await readResidentMemoryMegabytes(allInOneProduct.process("all").pid ?? 0);
  }
  await Promise.all([...pendingUpserts, faultInjection]);
  await eventually("every reader to have all events", () =>
    readers.every(({ orderEvents }) => orderEvents.length >= outcome.orderModel.expectedMessages.length),
  );
  outcome.memory.after = await readResidentMemoryMegabytes(allInOneProduct.process("all").pid ?? 0);
  await Promise.all(readers.map((reader) => reader.stop()));
  return outcome;
}

/** Kills and restarts `order-live` and a gateway, and closes the streams of some readers so that they reconnect. */
async function killProcessesAndReconnect({ readers, outages }: ServiceRun): Promise<void> {
  const reconnectingReaders = readers.filter((_, index) => index % 4 === 0);
  for (const victim of ["order-live", "gateway"] as const) {
    await sleep(4_000);
    await Promise.all(reconnectingReaders.map((reader) => reader.reconnect()));
    const from = performance.now();
    await splitProduct.process(victim).kill();
    await sleep(500);
    await splitProduct.process(victim).start();
    outages.push([from, performance.now() + 1_000]);
    await Promise.all(reconnectingReaders.map((reader) => reader.reconnect()));
  }
}

describe("fifty live orders with twenty stream readers, while processes are killed", () => {
  let outcome: ServiceRun;
  beforeAll(async () => {
    outcome = await runOrderService();
  }, 120_000);

  it("store every revision once, in one sequence", async () => {
    const { testLocation, orderModel } = outcome;
    const log = await sql<{ position: number; message: string }[]>`
      select position::int, 'order ' || order_id || ' ' || (body::json ->> 'revisionHash') as message
      from ${table("order_revisions")} where location_id = ${testLocation.locationId} order by position`;
    expect(log.map(({ position }) => position)).toEqual(orderModel.expectedMessages.map((_, index) => index + 1));
    expect(log.map(({ message }) => message).sort()).toEqual([...orderModel.expectedMessages].sort());
  });

  it("reach every reader once and in order, also after reconnects", async () => {
    const { testLocation, readers, orderModel } = outcome;
    const log = await sql<{ hash: string }[]>`
      select body::json ->> 'revisionHash' as hash from ${table("order_revisions")}
      where location_id = ${testLocation.locationId} order by position`;
    for (const { orderEvents, resetCount } of readers) {
      expect(orderEvents.map(({ id }) => id)).toEqual(
        orderModel.expectedMessages.map((_, index) => `${testLocation.locationId}:${index + 1}`),
      );
      expect(orderEvents.map(({ data }) => data.revisionHash)).toEqual(log.map(({ hash }) => hash));
      expect(resetCount).toBe(0);
    }
    const streamsOpened = readers.reduce((sum, { openedStreamCount }) => sum + openedStreamCount, 0);
    // One for each of the 20 readers, and 20 when five readers reconnect four times. About 20 more are expected after the
    // two kills, but a kill can end a stream that is reconnecting.
    expect(streamsOpened).toBeGreaterThanOrEqual(readerCount * 2);
  });

  it("have their last revision stored and counted", async () => {
    const { testLocation, orderModel } = outcome;
    const stored = await sql<{ order: string }[]>`
      select id || ' ' || revision_hash as order from ${table("live_orders")} where location_id = ${testLocation.locationId}`;
    expect(stored.map((row) => row.order).sort()).toEqual(orderModel.listed);
    for (const { url } of [splitProduct, allInOneProduct]) {
      for (const flag of ["isPaid", "isCanceled", "isTransferred"] as const) {
        const response = await fetch(`${url}/v1/orders-live/?${flag}=true&size=1`, {
          headers: { authorization: `Bearer ${testLocation.key}` },
        });
        const { meta } = (await response.json()) as { meta: { totalCount: number } };
        expect(meta.totalCount).toBe([...orderModel.orders.values()].filter(({ order }) => order.data[flag]).length);
      }
    }
  });

  it("open the shift of their till, and its business day, once", async () => {
    const { testLocation, orderModel } = outcome;
    const { locationId } = testLocation;
    const open = await sql`select till_id from ${table("open_shifts")} where location_id = ${locationId}`;
    expect(open.map(({ till_id: tillId }) => tillId)).toEqual(orderModel.openTillIds);
    const shifts = sql`${sql(buildServiceSchemaName(environment.namespace, "reporting"))}.shifts`;
    const known = await eventually("reporting to know the shift", async () => {
      const rows = await sql`select till_id, is_open, position::int from ${shifts} where location_id = ${locationId}`;
      return rows.length > 0 && rows;
    });
    expect(known).toEqual(orderModel.openTillIds.map((tillId) => ({ till_id: tillId, is_open: true, position: 1 })));
  });

  it("publish each event of an order once, with sequence numbers without gaps", async () => {
    const { orderModel } = outcome;
    await eventually("the outbox to be empty", async () => (await sql`select 1 from ${table("outbox")}`).length === 0);
    const eventsByOrderId = new Map<string, string[]>();
    for (const { type, subject, data } of await listPublishedTestEventEnvelopes(environment)) {
      if (!type.startsWith("order.")) continue;
      eventsByOrderId.set(subject, [
        ...(eventsByOrderId.get(subject) ?? []),
        `${(data as { sequence: number }).sequence} ${type}`,
      ]);
    }
    for (const [id, { events }] of orderModel.orders) {
      const sortedEvents = (eventsByOrderId.get(id) ?? []).sort(
        (one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10),
      );
      expect(sortedEvents).toEqual(events.map((type, index) => `${index + 1} ${type}`));
    }
  });

  it("reach readers quickly after the upsert's response, without memory growth", () => {
    const { readers, respondedAt, outages, memory } = outcome;
    const isOutsideOutages = (at: number) => outages.every(([from, to]) => at < from || at > to);
    const delays = readers
      .flatMap(({ orderEvents }) => orderEvents)
      .filter(
        ({ receivedAtMs, data }) =>
          isOutsideOutages(receivedAtMs) &&
          isOutsideOutages(respondedAt.get(String(data.revisionHash)) ?? receivedAtMs),
      )
      .map(({ receivedAtMs, data }) =>
        Math.max(0, receivedAtMs - (respondedAt.get(String(data.revisionHash)) ?? receivedAtMs)),
      )
      .sort((one, other) => one - other);
    expect(delays.length).toBeGreaterThan(1_000);
    const [p50, p99] = [0.5, 0.99].map((part) => delays[Math.floor(delays.length * part)] ?? 0);
    // The limits (in milliseconds) are much higher than usual delays, because the machine may be busy with other tests.
    expect(p50).toBeLessThan(500);
    expect(p99).toBeLessThan(5_000);
    // The process that is not killed must not leak memory. The limit in megabytes includes a margin for garbage.
    expect(memory.after - memory.before).toBeLessThan(150);
  });
});

describe("a pushed till", () => {
  it("removes its orders from the live orders, and adds its devices to the location", async () => {
    const testLocation = await createLiveOrderLocation();
    const till = generateTill({ seed: 11, tillId: randomUUID(), orders: 6, day: "2026-05-29" });
    const live = till.orderList
      .filter(({ isTraining }) => !isTraining)
      .map((data) =>
        createTestLiveOrderInput(
          { ...data, deviceIdentifier: "kitchen-1", deviceName: "Passe" },
          { id: data.id, tillId: till.id },
        ),
      );
    const other = createTestLiveOrderInput();
    const reader = startReconnectingStreamClient(streams(), testLocation.key);
    await reader.waitUntilReady();
    for (const [index, order] of [...live, other].entries()) await upsertWithRetries(testLocation, order, index);
    expect((await testLocation.pushTillWithRetries(till)).status).toBe(201);
    const left = await eventually("the removal of the orders", () => {
      const found = reader.orderEvents.filter(({ type }) => type === "left");
      return found.length >= live.length && found;
    });
    expect(left.map(({ data }) => data.id).sort()).toEqual(live.map(({ id }) => id).sort());
    await reader.stop();
    await upsertWithRetries(testLocation, createChangedTestLiveOrder(live[0] ?? other, {}), 0);
    const page = await testLocation.getJson<{ data: { id: string }[] }>("/v1/orders-live/");
    expect(page.data.map(({ id }) => id)).toEqual([other.id]);
    const devices = await eventually("the devices", async () => {
      const { deviceList } = await testLocation.getJson<{ deviceList: { id: string; name: string }[] }>(
        "/v1/locations/own?devices=true",
      );
      return deviceList.some(({ id }) => id === till.deviceIdentifier) && deviceList;
    });
    expect(devices).toContainEqual({ id: "kitchen-1", name: "Passe", model: null });
  }, 60_000);
});

describe("processes that are stopped", () => {
  it("exit quickly despite open streams, and readers reconnect to the other instance", async () => {
    const testLocation = await createLiveOrderLocation();
    const readers = Array.from({ length: 4 }, () => startReconnectingStreamClient(streams(), testLocation.key));
    await Promise.all(readers.map((reader) => reader.waitUntilReady()));
    await upsertWithRetries(testLocation, createTestLiveOrderInput(), 0);
    const since = performance.now();
    await splitProduct.process("gateway").stop();
    await splitProduct.process("order-live").stop();
    expect(performance.now() - since).toBeLessThan(8_000);
    await upsertWithRetries(testLocation, createTestLiveOrderInput(), 0);
    await eventually("every reader to have both events", () =>
      readers.every(({ orderEvents }) => orderEvents.length === 2),
    );
    await Promise.all(readers.map((reader) => reader.stop()));
    await splitProduct.process("order-live").start();
    await splitProduct.process("gateway").start();
  }, 60_000);
});
