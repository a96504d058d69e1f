import { randomInt } from "node:crypto";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { paginatedSchema } from "@pragma/contracts/pagination";
import { problemSchema } from "@pragma/contracts/problem";
import type { ComputedDocuments } from "@pragma/reporting/calculation/compute-report";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { computeExpectedDocuments, roundTripThroughJson } from "./harness/expected-report.ts";
import { createMutatedTillPushRequest, type MutatedTillPushRequest } from "./harness/mutated-till.ts";
import type { PragmaProcessRole } from "./harness/pragma-process.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { readResidentMemoryMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** Number of tills. `FUZZ_SEED` is the seed of the first till. `FUZZ_SEED=<seed> FUZZ_RUNS=1` repeats a failure. */
const runs = Number(process.env.FUZZ_RUNS ?? 120);
const firstSeed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));

/** Response timeout in milliseconds. It is long, because the machine may be busy with other tests. */
const requestTimeoutMs = 15_000;
/**
 * Maximum memory growth of each process during the second half of the runs, in megabytes. With 200 runs, the second
 * half has about 100 tills, so a leak of 1.3 MB per till exceeds it.
 */
const maxMemoryGrowthMegabytes = 128;
const roles: PragmaProcessRole[] = ["gateway", "till-ingest", "reporting", "accounts"];

const ordersPage = paginatedSchema(OrderV1);

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ MAX_RECIPIENTS_PER_LOCATION: "100000", MAX_WEBHOOKS_PER_LOCATION: "100000" },
  });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "till-ingest", "reporting"] });
  testLocation = await createTestLocation(product);
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** Returns the report that the API must compute from an accepted till, or null if the till is in training mode. */
function reportOf(till: MutatedTillPushRequest): ComputedDocuments | null {
  return computeExpectedDocuments(till.format, bodyOf(till), testLocation.locationId);
}

/** Returns the parsed body of a till. The decoder removes a byte order mark. */
function bodyOf({ bytes }: MutatedTillPushRequest) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The ids of the accepted tills, in lower case and without the optional prefix `s`. */
const acceptedTillIds = new Set<string>();

function tillIdOf(till: MutatedTillPushRequest): string {
  const body = bodyOf(till);
  const id: string = till.format === "V1" ? body.tillJson.client_id : body.id;
  return id.replace(/^s/, "").toLowerCase();
}

/** Pushes a till, checks the response, and returns whether the till was accepted. */
async function pushMutatedTill(till: MutatedTillPushRequest): Promise<boolean> {
  const response = await fetch(`${product.url}/${till.format.toLowerCase()}/tills/`, {
    method: "POST",
    headers: { authorization: `Bearer ${testLocation.key}`, "content-type": "application/json", ...till.headers },
    body: new Uint8Array(till.body),
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await response.text();
  if (response.status === 201) {
    acceptedTillIds.add(tillIdOf(till));
    return true;
  }
  const { code, status } = problemSchema.parse(JSON.parse(text));
  expect(status).toBe(response.status);
  const rejection = `${status} ${code}`;
  // One of the edge case ids is the same in all tills, so only the first till with this id is accepted.
  if (rejection === "409 till_conflict") expect(acceptedTillIds).toContain(tillIdOf(till));
  // A V1 till with a mutated application or legacy id belongs to another location, so it can be rejected with 403.
  else expect(rejection).toMatch(/^(400 (invalid_request|malformed_json)|403 location_forbidden)$/);
  return false;
}

/** Returns all orders of the location from its list of orders, and checks the schema of each order. */
async function listOrders(): Promise<{ id: string; openedAt: string }[]> {
  const orders: { id: string; openedAt: string }[] = [];
  let path: string | null = "/v1/orders/?size=100";
  while (path !== null) {
    const { data, nextPageToken, meta } = ordersPage.parse(await testLocation.getJson(path));
    orders.push(...data);
    path = nextPageToken && `/v1/orders/?size=100&pageToken=${nextPageToken}`;
    if (path === null) expect(orders).toHaveLength(meta.totalCount);
  }
  return orders;
}

async function expectExactReport(seed: number, { id, reportV2 }: ComputedDocuments): Promise<void> {
  const report = await eventually(`the report of the till of FUZZ_SEED=${seed} FUZZ_RUNS=1`, async () => {
    const response = await testLocation.request("GET", `/v2/reports/${id}`);
    return response.status === 200 && response.json();
  });
  expect(report).toEqual(roundTripThroughJson(reportV2));
}

async function readMemory(): Promise<number[]> {
  return Promise.all(roles.map((role) => readResidentMemoryMegabytes(product.process(role).pid ?? 0)));
}

// The test is not retried, because the tills that the first run stored would hide the failure.
const options = { timeout: Math.max(120_000, runs * 300), retry: 0 };
it(`responds to ${runs} mutated tills, and computes the report of each accepted till`, options, async () => {
  const reports: { seed: number; expected: ComputedDocuments }[] = [];
  const failures: string[] = [];
  let warmMemory: number[] = [];
  for (let run = 0; run < runs; run++) {
    const seed = firstSeed + run;
    const till = createMutatedTillPushRequest(String(seed), testLocation);
    try {
      const expected = (await pushMutatedTill(till)) ? reportOf(till) : null;
      if (expected) reports.push({ seed, expected });
    } catch (error) {
      failures.push(
        `FUZZ_SEED=${seed} FUZZ_RUNS=1 repeats it. Mutations: ${till.appliedMutations.join("; ")}. ${error}`,
      );
    }
    if (run === Math.floor(runs / 2)) warmMemory = await readMemory();
  }
  expect(failures).toEqual([]);
  // At least one fifth of the tills must be accepted, because only accepted tills test the computation of reports.
  expect(reports.length).toBeGreaterThanOrEqual(Math.floor(runs / 5));

  for (const { seed, expected } of reports) await expectExactReport(seed, expected);
  const orders = await listOrders();
  const expectedIds = new Set(reports.flatMap(({ expected }) => expected.orders.map(({ id }) => id)));
  expect(orders.map(({ id }) => id).sort()).toEqual([...expectedIds].sort());
  const instants = orders.map(({ openedAt }) => Date.parse(openedAt));
  expect(instants).toEqual(instants.toSorted((one, other) => other - one));
  for (const role of roles) {
    expect(await (await fetch(`${product.process(role).opsUrl}/dead-letters`)).json()).toEqual([]);
  }
  const after = await readMemory();
  for (const [index, role] of roles.entries()) {
    expect(after[index], `megabytes of ${role}`).toBeLessThan((warmMemory[index] ?? 0) + maxMemoryGrowthMegabytes);
  }
});
