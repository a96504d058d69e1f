import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { SeededRandom } from "@pragma/simulator/random";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findInconsistencies, findStaleDays } from "./fault-injection/expect-consistency.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** Number of races. Each race changes two tills concurrently. The same `RACE_SEED` gives the same till bodies. */
const runs = Number(process.env.RACE_RUNS ?? 6);
const firstSeed = Number(process.env.RACE_SEED ?? randomInt(1_000_000_000));
/**
 * Number of races that run at the same time. It is more than one, so that different races conflict too: all races
 * update the same rows of the table `day_counts`.
 */
const maxConcurrentRaces = 4;

type Till = ReturnType<typeof generateTill>;

const possibleDays = ["2026-05-28", "2026-05-29", "2026-05-30"];

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let secondProduct: PragmaUnderTest;
let testLocation: TestLocation;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "till-ingest", "reporting"] });
  secondProduct = await startPragmaUnderTest(environment.variables, { adminKey: product.adminKey });
  testLocation = await createTestLocation(product);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await secondProduct?.stop();
  await product?.stop();
  await environment?.remove();
});

/** Repeats a request at random instances until it succeeds. It can fail after a kill, or before the till exists. */
async function requestUntilSuccess(method: string, path: string, body?: unknown): Promise<void> {
  await eventually(
    `${method} ${path} to succeed`,
    async () => {
      const { url } = randomInt(2) === 0 ? product : secondProduct;
      const headers = { authorization: `Bearer ${testLocation.key}`, "content-type": "application/json" };
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      await response.arrayBuffer();
      if (response.status >= 500 || response.status === 404) return false;
      // A push is repeated if its response was lost. If the till was replaced in the meantime, the response is 409.
      const accepted = method === "POST" && body !== undefined ? [200, 201, 409] : [200, 201];
      expect(accepted, `${method} ${path}`).toContain(response.status);
      return true;
    },
    { timeoutSeconds: 60 },
  );
}

/** Pushes, replaces and reprocesses two tills concurrently, and returns their ids. */
async function pushConflictingTills(seed: number): Promise<string[]> {
  const random = new SeededRandom(`race ${seed}`);
  const tills = generateConflictingTills(random, { bodies: 4 });
  const requests = tills.flatMap(([pushed, ...replacements]) => {
    const tillPath = `/v1/tills/${pushed?.id}`;
    return [
      () => requestUntilSuccess("POST", "/v2/tills/", pushed),
      ...replacements.map((body) => () => requestUntilSuccess("PUT", tillPath, body)),
      ...[1, 2].map(() => () => requestUntilSuccess("POST", `${tillPath}/reprocess`)),
    ];
  });
  await Promise.all(
    random.shuffle(requests).map(async (sendRequest) => {
      await sleep(random.integer(0, 60));
      await sendRequest();
    }),
  );
  return tills.map(([pushed]) => pushed?.id ?? "");
}

const tableOf = (service: string, name: string) =>
  sql`${sql(buildServiceSchemaName(environment.namespace, service))}.${sql(name)}`;

async function waitUntilProcessed(ids: string[]): Promise<void> {
  await eventually(
    `${ids.length} tills to be processed`,
    async () => {
      const undone = await sql`
        select 1 from ${tableOf("till-ingest", "tills")}
        where id = any(${ids}::uuid[]) and result_revision is distinct from revision`;
      return undone.length === 0;
    },
    { timeoutSeconds: 60 + runs },
  );
}

/** Checks that the report and the orders are the results of the till's current body. */
async function expectLastRevision(id: string): Promise<void> {
  const body = TillV2.parse(await testLocation.getJson(`/v1/tills/${id}/object`));
  const expected = computeDocuments(body, { locationId: testLocation.locationId });
  const reports = await sql`select id, v2 from ${tableOf("reporting", "reports")} where till_id = ${id}`;
  const shown = reports.map(({ v2 }) => JSON.parse(v2));
  expect(shown, `till ${id}`).toEqual(expected ? [JSON.parse(JSON.stringify(expected.reportV2))] : []);
  const orders = await sql<{ id: string }[]>`select id from ${tableOf("reporting", "orders")} where till_id = ${id}`;
  const expectedIds = expected?.orders.map((order) => order.id) ?? [];
  expect(orders.map((order) => order.id).sort(), `orders of till ${id}`).toEqual(expectedIds.sort());
  if (expected) expect(await testLocation.getJson(`/v2/reports/${expected.id}`)).toEqual(shown[0]);
}

it(
  "concurrent pushes, replacements and reprocessings leave only the last revision of each till, while processes are killed",
  async () => {
    const seeds = Array.from({ length: runs }, (_, index) => firstSeed + index);
    const ids: string[] = [];
    const runRaces = async () => {
      for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop())
        ids.push(...(await pushConflictingTills(seed)));
    };
    let kills = 0;
    const killProcesses = async () => {
      // After two kills, no process is killed during the last quarter of the races. NATS redelivers the messages of a
      // killed process only after 10 seconds, so a late kill would extend the test.
      for (; kills < 2 || seeds.length > runs / 4; kills++) {
        const victim = product.process(kills % 2 === 0 ? "reporting" : "till-ingest");
        await sleep(randomInt(200, 2_000));
        await victim.kill();
        await victim.start();
      }
    };
    await Promise.all([killProcesses(), ...Array.from({ length: maxConcurrentRaces }, runRaces)]);
    expect(ids).toHaveLength(2 * runs);
    await waitUntilProcessed(ids);
    for (const id of ids) await expectLastRevision(id);
    expect(await findInconsistencies(sql, buildServiceSchemaName(environment.namespace, "reporting"))).toEqual([]);
    expect(await findStaleDays(sql, buildServiceSchemaName(environment.namespace, "reporting"))).toEqual([]);
    for (const service of ["till-ingest", "reporting"]) {
      expect(await sql`select reason from ${tableOf(service, "dead_letters")}`).toEqual([]);
    }
  },
  120_000 + 2_000 * runs,
);

/**
 * Returns `bodies` bodies for each of two tills. The bodies share order ids and have random days, and some are in
 * training mode. The first body of each till is pushed, and the others replace it.
 */
function generateConflictingTills(random: SeededRandom, { bodies }: { bodies: number }): Till[][] {
  const orderIds = Array.from({ length: 5 }, () => random.uuid());
  return [random.uuid(), random.uuid()].map((tillId) =>
    Array.from({ length: bodies }, (_, index) => {
      const day = random.pick(possibleDays);
      const till = generateTill({ seed: "race", orders: orderIds.length, day, tillId });
      const orders = till.orderList.map((order, orderIndex) => ({ ...order, id: orderIds[orderIndex] ?? order.id }));
      return {
        ...till,
        isTraining: index > 0 && random.chance(0.1),
        note: `body ${index}`,
        orderList: random.sample(orders, random.integer(0, orders.length)),
      };
    }),
  );
}
