import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { measureCpuSlowdown } from "./harness/cpu-slowdown.ts";
import { packTestTill } from "./harness/packed-till.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const floodConnections = 300;
const floodMs = 5_000;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let busyLocation: TestLocation;
let otherLocation: TestLocation;
/** Paths of packed orders that are the last ones of large blocks, and of packed and other orders of the other location. */
const busyPaths: string[] = [];
const otherPaths: string[] = [];

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "1000000" });
  product = await startPragmaUnderTest(environment.variables, {
    split: ["accounts", "till-ingest", "reporting"],
    variablesOf: (role) => (role === "reporting" ? { NODE_OPTIONS: "--max-old-space-size=256" } : {}),
  });
  [busyLocation, otherLocation] = [await createTestLocation(product), await createTestLocation(product)];
  const coldTillIds: string[] = [];
  for (let day = 1; day <= 6; day += 1) {
    const till = await pushTill(busyLocation, { orders: 150, day: `2025-04-0${day}` });
    const opened = till.orderList
      .filter(({ isTraining }) => !isTraining)
      .toSorted((one, other) => one.openedAt.localeCompare(other.openedAt));
    for (const order of opened.slice(-8)) busyPaths.push(`/v2/orders/${order.id}`);
    coldTillIds.push(till.id);
  }
  const cold = await pushTill(otherLocation, { orders: 60, day: "2025-04-01" });
  coldTillIds.push(cold.id);
  const hot = await pushTill(otherLocation, { orders: 60, day: new Date().toISOString().slice(0, 10) });
  for (const { orderList } of [cold, hot])
    otherPaths.push(`/v1/orders/${orderList.find(({ isTraining }) => !isTraining)?.id}`);
  await Promise.all(coldTillIds.map((id) => packTestTill(environment, id)));
  otherPaths.push("/v1/orders/?size=20", "/v1/orders/?size=20&until=2025-04-02");
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

async function pushTill(location: TestLocation, { orders, day }: { orders: number; day: string }) {
  const till = generateTill({ seed: "packed fairness", tillId: randomUUID(), orders, day });
  expect((await location.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
  const path = `/v2/reports/${computeTillReportId(till.id)}`;
  await eventually("the report", async () => (await location.request("GET", path)).status === 200, {
    timeoutSeconds: 60,
  });
  return till;
}

it("a key that reads packed orders over 300 connections delays others by at most two seconds, with bounded memory", async () => {
  const readMegabytes = () => readResidentMemoryMegabytes(product.process("reporting").pid ?? 0);
  for (const path of otherPaths) expect((await otherLocation.request("GET", path)).status).toBe(200);
  const idleMegabytes = await readMegabytes();
  const maxDelayMs = 2_000 * measureCpuSlowdown();
  const agent = new Agent({ keepAlive: true });
  const statuses = new Map<number, number>();
  const endMs = performance.now() + floodMs;
  const flood = async (connection: number) => {
    for (let count = connection; performance.now() < endMs; count += 1) {
      const path =
        connection % 3 === 0
          ? `/v1/orders/?size=100&index=${count % 9}`
          : (busyPaths[count % busyPaths.length] ?? expect.unreachable());
      const { status } = await busyLocation.request("GET", path, { agent });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const flooding = Promise.all(Array.from({ length: floodConnections }, (_, index) => flood(index)));
  const delays: number[] = [];
  let maxMegabytes = 0;
  while (performance.now() < endMs) {
    for (const path of otherPaths) {
      const started = performance.now();
      expect((await otherLocation.request("GET", path)).status).toBe(200);
      delays.push(performance.now() - started);
      maxMegabytes = Math.max(maxMegabytes, await readMegabytes());
    }
    await sleep(50);
  }
  await flooding;
  agent.destroy();
  expect([...statuses.keys()]).toEqual([200]);
  expect(statuses.get(200)).toBeGreaterThan(floodConnections);
  expect(Math.max(...delays)).toBeLessThan(maxDelayMs);
  expect(maxMegabytes - idleMegabytes).toBeLessThan(200);
}, 240_000);
