import { randomInt } from "node:crypto";
import { problemSchema } from "@pragma/contracts/errors";
import { OrderV1 } from "@pragma/contracts/order-v1";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { ComputedReport } from "@pragma/reporting/calculation/compute-report";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { computeExpectedReport, toJsonValue } from "./harness/expected-report.ts";
import { createMutatedTill, type MutatedTill } from "./harness/mutated-till.ts";
import { type ProductRole, type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { readResidentMegabytes } from "./harness/resident-memory.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** FUZZ_RUNS tills, the first of which is number FUZZ_SEED: `FUZZ_SEED=<seed of a failure> FUZZ_RUNS=1` repeats one. */
const runs = Number(process.env.FUZZ_RUNS ?? 200);
const firstSeed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));

/** Milliseconds that an answer may take, on a machine that does much else. */
const requestTimeoutMs = 15_000;
/** What each process may grow by once it is warm, in megabytes: less than 100 kB for each of 2,000 tills. */
const maxMemoryGrowthMegabytes = 128;
const roles: ProductRole[] = ["gateway", "till-ingest", "reporting", "accounts"];

const ordersPage = paginatedSchema(OrderV1);

let environment: TestEnvironment;
let product: ProductUnderTest;
let shop: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ RECIPIENTS_PER_LOCATION: "100000", WEBHOOKS_PER_LOCATION: "100000" },
  });
  product = await startProductUnderTest(environment.variables, { split: ["accounts", "till-ingest", "reporting"] });
  shop = await createTestLocation(product);
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

/** What must come of a body that was accepted. */
function reportOf(till: MutatedTill): ComputedReport | null {
  return computeExpectedReport(till.format, bodyOf(till), shop.locationId);
}

/** Like JSON in general it may begin with a byte order mark. */
function bodyOf({ bytes }: MutatedTill) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The ids of the tills that were accepted, without what the older format may put before them. */
const listTillIds = new Set<string>();

function tillIdOf(till: MutatedTill): string {
  const body = bodyOf(till);
  const id: string = till.format === "V1" ? body.tillJson.client_id : body.id;
  return id.replace(/^s/, "").toLowerCase();
}

/** Pushes it, sees that the answer is as it should be, and tells whether the till was accepted. */
async function pushMutatedTill(till: MutatedTill): Promise<boolean> {
  const answer = await fetch(`${product.url}/${till.format.toLowerCase()}/tills/`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.key}`, "content-type": "application/json", ...till.headers },
    body: new Uint8Array(till.body),
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const text = await answer.text();
  if (answer.status === 201) {
    listTillIds.add(tillIdOf(till));
    return true;
  }
  const { code, status } = problemSchema.parse(JSON.parse(text));
  expect(status).toBe(answer.status);
  const refusal = `${status} ${code}`;
  // One odd id is the same each time that it is picked: the first till to have it keeps it.
  if (refusal === "409 till_conflict") expect(listTillIds).toContain(tillIdOf(till));
  // A V1 till whose application or legacy id was changed is of another location.
  else expect(refusal).toMatch(/^(400 (invalid_request|malformed_json)|403 location_forbidden)$/);
  return false;
}

/** Every order of the shop, by following the list, newest first; each has the shape that it should have. */
async function listedOrders(): Promise<{ id: string; openedAt: string }[]> {
  const orders: { id: string; openedAt: string }[] = [];
  let path: string | null = "/v1/orders/?size=100";
  while (path !== null) {
    const { data, nextPageToken, meta } = ordersPage.parse(await shop.getJson(path));
    orders.push(...data);
    path = nextPageToken && `/v1/orders/?size=100&pageToken=${nextPageToken}`;
    if (path === null) expect(orders).toHaveLength(meta.totalCount);
  }
  return orders;
}

async function expectExactReport(seed: number, { id, reportV2 }: ComputedReport): Promise<void> {
  const report = await eventually(`the report of the till of FUZZ_SEED=${seed} FUZZ_RUNS=1`, async () => {
    const answer = await shop.request("GET", `/v2/reports/${id}`);
    return answer.status === 200 && answer.json();
  });
  expect(report).toEqual(toJsonValue(reportV2));
}

async function readMemory(): Promise<number[]> {
  return Promise.all(roles.map((role) => readResidentMegabytes(product.process(role).pid ?? 0)));
}

// A till that goes wrong does so again, and by then all of them are known: to try once more would only hide it.
const options = { timeout: Math.max(120_000, runs * 300), retry: 0 };
it(`gives an answer to ${runs} mutated tills, and each that is accepted its report`, options, async () => {
  const reports: { seed: number; expected: ComputedReport }[] = [];
  const failures: string[] = [];
  let warm: number[] = [];
  for (let run = 0; run < runs; run++) {
    const seed = firstSeed + run;
    const till = createMutatedTill(String(seed), shop);
    try {
      const expected = (await pushMutatedTill(till)) ? reportOf(till) : null;
      if (expected) reports.push({ seed, expected });
    } catch (error) {
      failures.push(`FUZZ_SEED=${seed} FUZZ_RUNS=1 repeats it. What was done: ${till.story.join("; ")}. ${error}`);
    }
    if (run === Math.floor(runs / 2)) warm = await readMemory();
  }
  expect(failures).toEqual([]);
  // Enough are sound, or nothing would be tested behind the door.
  expect(reports.length).toBeGreaterThanOrEqual(Math.floor(runs / 5));

  for (const { seed, expected } of reports) await expectExactReport(seed, expected);
  const orders = await listedOrders();
  const expectedIds = new Set(reports.flatMap(({ expected }) => expected.orders.map(({ id }) => id)));
  expect(orders.map(({ id }) => id).sort()).toEqual([...expectedIds].sort());
  const instants = orders.map(({ openedAt }) => Date.parse(openedAt));
  expect(instants).toEqual(instants.toSorted((one, other) => other - one));
  for (const role of roles) {
    expect(await (await fetch(`${product.process(role).opsUrl}/parked`)).json()).toEqual([]);
  }
  const after = await readMemory();
  for (const [index, role] of roles.entries()) {
    expect(after[index], `megabytes of ${role}`).toBeLessThan((warm[index] ?? 0) + maxMemoryGrowthMegabytes);
  }
});
