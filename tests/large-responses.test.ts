import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { buildTestLiveOrderProductRow, createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const orderCount = 104;
const scopes = ["orders:read", "orders:write"] as const;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;
let otherLocation: TestLocation;
let idleMegabytes: number;
const sockets: Socket[] = [];

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "1000", RATE_LIMIT_BURST: "10000" },
    DATABASE_POOL: "10",
    ...(JSON.parse(process.env.LARGE_REPLIES_VARIABLES ?? "{}") as Record<string, string>),
  });
  product = await startPragmaUnderTest(environment.variables, {
    split: ["accounts", "order-live"],
    variablesOf: (role) => (role === "order-live" ? { NODE_OPTIONS: "--max-old-space-size=128" } : {}),
  });
  [testLocation, otherLocation] = [
    await createTestLocation(product, { scopes: [...scopes] }),
    await createTestLocation(product, { scopes: [...scopes] }),
  ];
  await upsertOrders(otherLocation, [createTestLiveOrderInput()]);
  const orders = Array.from({ length: orderCount }, createLargeOrder);
  for (let first = 0; first < orderCount; first += 13)
    await upsertOrders(testLocation, orders.slice(first, first + 13));
  idleMegabytes = await readMegabytes();
}, 180_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const readMegabytes = () => readResidentMemoryMegabytes(product.process("order-live").pid ?? 0);

/** Returns a live order with a size of about 480 KB, which is close to the maximum. */
function createLargeOrder(): OrderLiveInput {
  return createTestLiveOrderInput({
    productRowList: Array.from({ length: 43 }, () => ({
      ...buildTestLiveOrderProductRow(),
      comment: "x".repeat(9_900),
    })),
  });
}

async function upsertOrders({ key }: TestLocation, orders: OrderLiveInput[]): Promise<void> {
  const response = await fetch(`${product.url}/v1/orders-live/`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync(JSON.stringify(orders)),
  });
  expect(response.status, (await response.text()).slice(0, 1_000)).toBe(200);
}

/** Sends `count` requests, each on its own connection, never reads the responses, and waits six seconds. */
async function requestWithoutReading(path: string, count: number): Promise<void> {
  const { hostname, port } = new URL(product.url);
  for (let request = 0; request < count; request += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => {});
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: pragma\r\nauthorization: Bearer ${testLocation.key}\r\n\r\n`);
    sockets.push(socket);
  }
  await sleep(6_000);
}

/**
 * Checks that the fastest of three responses to another location takes less than two seconds. The other two responses
 * can take longer, because the machine may be busy.
 */
async function expectOtherLocationServed(): Promise<void> {
  const milliseconds: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    const since = performance.now();
    const { data } = (await (await otherLocation.request("GET", "/v1/orders-live/?size=100")).json()) as {
      data: unknown[];
    };
    expect(data).toHaveLength(1);
    milliseconds.push(performance.now() - since);
  }
  expect(Math.min(...milliseconds)).toBeLessThan(2_000);
}

it("60 unread pages of 100 large live orders use a bounded amount of memory, without a delay for other locations", async () => {
  await requestWithoutReading("/v1/orders-live/?size=100", 60);
  await expectOtherLocationServed();
  expect((await readMegabytes()) - idleMegabytes).toBeLessThan(200);
  for (const socket of sockets.splice(0)) socket.destroy();
  await sleep(1_000);
  const seen = new Set<string>();
  for (let token: string | null = ""; token !== null; ) {
    const response = await testLocation.request("GET", `/v1/orders-live/?size=100${token && `&pageToken=${token}`}`);
    const page = (await response.json()) as { data: { id: string }[]; nextPageToken: string | null };
    expect(response.status).toBe(200);
    for (const { id } of page.data) seen.add(id);
    token = page.nextPageToken;
  }
  expect(seen.size).toBe(orderCount);
}, 60_000);

it("100 unread streams use a bounded amount of memory, without a delay for other locations", async () => {
  await requestWithoutReading("/v1/orders-live/stream", 100);
  await expectOtherLocationServed();
  expect((await readMegabytes()) - idleMegabytes).toBeLessThan(200);
}, 60_000);
