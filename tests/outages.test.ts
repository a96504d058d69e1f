import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProcessName } from "./harness/pragma-process.ts";
import { type ReplicatedPragmaUnderTest, startReplicatedPragmaUnderTest } from "./harness/replicated-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** The duration of each outage. The load balancers probe readiness four times a second. */
const outageMs = Number(process.env.TEST_OUTAGE_SECONDS ?? 3) * 1_000;

let environment: IsolatedTestEnvironment;
let nats: OwnTestServer;
let redis: OwnTestServer;
let product: ReplicatedPragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  [nats, redis] = await Promise.all([startOwnTestServer("nats"), startOwnTestServer("redis")]);
  environment = await createMigratedTestEnvironment({
    ...{ NATS_URL: nats.url, REDIS_URL: redis.url, DATABASE_POOL: "3" },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
  });
  product = await startReplicatedPragmaUnderTest(environment.variables, [
    ...(["gateway", "accounts", "till-ingest", "reporting"] as const),
  ]);
  testLocation = await createTestLocation(product, { scopes: ["tills:write", "tills:read", "reports:read"] });
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
  await Promise.all([nats?.stop(), redis?.stop()]);
}, 240_000);

const readReadiness = (role: ProcessName) =>
  Promise.all(
    (product.instances.get(role) ?? []).map(async ({ opsUrl }) => {
      const response = await fetch(`${opsUrl}/ready`);
      const { parts } = (await response.json()) as { parts: Record<string, Record<string, string>> };
      return { httpStatus: response.status, states: parts[role] ?? {} };
    }),
  );

/** Pushes tills and reads lists, each with a new connection, until `work` ends. Returns all unexpected responses. */
async function runUnderLoad(work: () => Promise<void>): Promise<{ failures: string[]; tillIds: string[] }> {
  const failures: string[] = [];
  const tillIds: string[] = [];
  let isRunning = true;
  const send = async (method: string, path: string, body?: unknown) => {
    const expected = method === "POST" ? 201 : 200;
    // A new connection for each request, so that the load balancer chooses an instance for each of them.
    const headers = { connection: "close" };
    const description = await testLocation
      .request(method, path, { body, headers })
      .then(async (response) => (response.status === expected ? "" : `${response.status} ${await response.text()}`))
      .catch((error) => `${error} ${error.cause}`);
    if (description) failures.push(`${method} ${path}: ${description}`);
  };
  const clients = Array.from({ length: 3 }, async () => {
    while (isRunning) {
      const till = generateTill({ seed: "outage", tillId: randomUUID(), orders: 1, day: "2026-04-01" });
      await send("POST", "/v2/tills/", till);
      tillIds.push(till.id);
      await send("GET", "/v2/reports/?size=1");
      await sleep(300);
    }
  });
  await work();
  isRunning = false;
  await Promise.all(clients);
  return { failures, tillIds };
}

/** The dependencies whose outage must not fail requests, and the roles that observe each of them. */
const outages: {
  dependency: string;
  observers: ProcessName[];
  stop(): Promise<unknown>;
  start(): Promise<unknown>;
}[] = [
  {
    dependency: "accounts",
    observers: ["gateway"],
    stop: () => Promise.all((product.instances.get("accounts") ?? []).map((instance) => instance.kill())),
    start: () => Promise.all((product.instances.get("accounts") ?? []).map((instance) => instance.start())),
  },
  { dependency: "redis", observers: ["gateway"], stop: () => redis.kill(), start: () => redis.start() },
  {
    dependency: "nats",
    observers: ["gateway", "till-ingest", "reporting"],
    stop: () => nats.kill(),
    start: () => nats.start(),
  },
];

describe("an outage behind load balancers that use only ready instances", () => {
  it.each(outages)(
    "of $dependency fails no request, and is reported",
    async ({ dependency, observers, stop, start }) => {
      const { failures, tillIds } = await runUnderLoad(async () => {
        await sleep(500);
        await stop();
        try {
          await sleep(outageMs);
          for (const { httpStatus, states } of (await Promise.all(observers.map(readReadiness))).flat()) {
            expect({ httpStatus, states }).toMatchObject({ httpStatus: 200 });
            expect(states[dependency]).not.toBe("ok");
          }
        } finally {
          await start();
        }
        await eventually("the dependency to be reported as available", async () =>
          (await Promise.all(observers.map(readReadiness))).flat().every(({ states }) => states[dependency] === "ok"),
        );
      });
      expect(failures).toEqual([]);
      expect(tillIds.length).toBeGreaterThan(5);
      for (const id of tillIds) {
        const path = `/v2/reports/${computeTillReportId(id)}`;
        await eventually(`report of till ${id}`, async () => (await testLocation.request("GET", path)).status === 200, {
          timeoutSeconds: 60,
        });
      }
    },
    // After a long outage, hundreds of tills of the location wait for their reports.
    120_000 + 5 * outageMs,
  );
});
