import { randomUUID } from "node:crypto";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { createTestEventStreamAdmin, type TestEventStreamAdmin } from "@pragma/runtime/testing/event-stream-admin";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;
let stream: TestEventStreamAdmin;
let sql: postgres.Sql;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ TILL_REQUEUE_AFTER_SECONDS: "1" });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "till-ingest", "reporting"] });
  testLocation = await createTestLocation(product);
  stream = await createTestEventStreamAdmin(environment);
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await stream?.close();
  await product?.stop();
  await environment?.remove();
});

type Till = ReturnType<typeof generateTill>;

const createTill = (changes: Partial<Till> = {}): Till => ({
  ...generateTill({ seed: 3, orders: 5, day: "2026-05-29", tillId: randomUUID() }),
  ...changes,
});
const tableOf = (service: string, name: string) =>
  sql`${sql(buildServiceSchemaName(environment.namespace, service))}.${sql(name)}`;

async function pushNewTills(count: number): Promise<Till[]> {
  const tills = Array.from({ length: count }, () => createTill());
  for (const till of tills) expect((await testLocation.request("POST", "/v2/tills/", { body: till })).status).toBe(201);
  return tills;
}

/** Waits until till-ingest has received the result of each till from reporting. */
async function waitUntilProcessed(tills: Till[]): Promise<void> {
  const ids = tills.map(({ id }) => id);
  await eventually(
    `${tills.length} tills to be processed`,
    async () => {
      const done = await sql`
      select 1 from ${tableOf("till-ingest", "tills")} where id = any(${ids}::uuid[]) and result_revision = revision`;
      return done.length === tills.length;
      // After a stream was deleted, consumers find out when their request for messages ends.
    },
    { timeoutSeconds: 60 },
  );
}

/** Waits for services that are running. The others may have been killed before they had sent lost events again. */
async function waitUntilOutboxEmpty(services = ["till-ingest", "reporting"]): Promise<void> {
  for (const service of services) {
    await eventually(
      `the outbox of ${service} to be empty`,
      async () => (await sql`select 1 from ${tableOf(service, "outbox")}`).length === 0,
      // After a stream was deleted, the events that it had are sent again first.
      { timeoutSeconds: 60 },
    );
  }
}

/** Returns all stored data of tills, reports and orders, with timestamps, so that any change can be detected. */
async function readStoredReports(): Promise<unknown> {
  const [row] = await sql`
    select
      (select json_agg(each order by id) from ${tableOf("till-ingest", "tills")} as each) as tills,
      (select json_agg(each order by till_id, revision) from ${tableOf("till-ingest", "till_versions")} as each) as versions,
      (select json_agg(each order by till_id) from ${tableOf("reporting", "tills")} as each) as taken,
      (select json_agg(each order by id) from ${tableOf("reporting", "reports")} as each) as reports,
      (select json_agg(each order by till_id, id) from ${tableOf("reporting", "orders")} as each) as orders,
      (select json_agg(each order by location_id, kind, day) from ${tableOf("reporting", "day_counts")} as each) as counts,
      (select count(*) from ${tableOf("reporting", "dead_letters")}) as dead_letters`;
  return row;
}

describe("a redelivery of all events", () => {
  async function expectNothingToChange(): Promise<void> {
    await waitUntilOutboxEmpty();
    await eventually("all events to be handled", () => stream.isFullyConsumed());
    const before = await readStoredReports();
    const readers = await stream.deleteConsumers();
    await eventually("all events to be handled again", () => stream.isFullyConsumed(readers));
    await waitUntilOutboxEmpty();
    expect(await readStoredReports()).toEqual(before);
  }

  it("changes nothing", async () => {
    await waitUntilProcessed(await pushNewTills(5));
    await expectNothingToChange();
  });

  it("changes nothing when the inboxes are empty", async () => {
    for (const service of ["till-ingest", "reporting"]) await sql`delete from ${tableOf(service, "inbox")}`;
    await expectNothingToChange();
    const [handled] = await sql`select count(*)::int as n from ${tableOf("reporting", "inbox")}`;
    expect(handled?.n).toBeGreaterThanOrEqual(5);
  });
});

describe("a deleted event stream", () => {
  it("does not affect tills that are pushed afterwards", async () => {
    await stream.delete();
    await waitUntilProcessed(await pushNewTills(2));
  });

  it("is recovered by the periodic requeue when reporting missed the pushed tills", async () => {
    await product.process("reporting").kill();
    const tills = await pushNewTills(3);
    await waitUntilOutboxEmpty(["till-ingest"]);
    await stream.delete();
    await product.process("reporting").start();
    // The process is restarted, because the periodic requeue runs only at the start and then once a minute.
    await product.process("till-ingest").kill();
    await product.process("till-ingest").start();
    await waitUntilProcessed(tills);
  });

  it("is recovered by the periodic requeue when till-ingest missed the finalized reports", async () => {
    await product.process("reporting").kill();
    const tills = await pushNewTills(3);
    await waitUntilOutboxEmpty(["till-ingest"]);
    await product.process("till-ingest").kill();
    await product.process("reporting").start();
    const ids = tills.map(({ id }) => id);
    const reports = () =>
      sql`select * from ${tableOf("reporting", "reports")} where till_id = any(${ids}::uuid[]) order by id`;
    // The timeout is long, because NATS redelivers the messages of the killed process only after their ack timeout.
    await eventually("the reports", async () => (await reports()).length === 3, { timeoutSeconds: 60 });
    await waitUntilOutboxEmpty(["reporting"]);
    const before = await reports();
    await stream.delete();
    await product.process("till-ingest").start();
    await waitUntilProcessed(tills);
    expect(await reports()).toEqual(before);
  }, 120_000);
});

describe("concurrent pushes of one till to two instances", () => {
  let second: PragmaUnderTest;
  beforeAll(async () => {
    second = await startPragmaUnderTest(environment.variables, { adminKey: product.adminKey });
  }, 60_000);
  afterAll(() => second?.stop());

  /** Sends `times` pushes concurrently. Sends each of the bodies in turn to both instances. */
  async function pushAtOnce(bodies: string[], times: number) {
    const responses = await Promise.all(
      Array.from({ length: times }, async (_, index) => {
        const { url } = index % 2 === 0 ? product : second;
        const body = bodies[Math.floor(index / 2) % bodies.length] as string;
        const headers = {
          authorization: `Bearer ${testLocation.key}`,
          "content-type": "application/json",
          host: "api.example",
        };
        const response = await fetch(`${url}/v2/tills/`, { method: "POST", headers, body });
        return { status: response.status, body, result: (await response.json()) as object };
      }),
    );
    return responses;
  }

  async function expectOneReport(till: Till): Promise<void> {
    await waitUntilProcessed([till]);
    await waitUntilOutboxEmpty();
    const reports = await sql`select id from ${tableOf("reporting", "reports")} where till_id = ${till.id}`;
    expect(reports).toHaveLength(1);
    expect(await listPublishedTestEvents(environment, "till.pushed", till.id)).toHaveLength(1);
    expect(await listPublishedTestEvents(environment, "report.finalized", reports[0]?.id)).toHaveLength(1);
  }

  it.each([2, 20])("store one till, one report and one event: %s pushes", async (times) => {
    const till = createTill();
    const responses = await pushAtOnce([JSON.stringify(till)], times);
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(times - 1).fill(200), 201]);
    const results = responses.map(({ result }) => ({ ...result, objectUrl: null, reportUrl: null, reportState: null }));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    await expectOneReport(till);
  });

  it("accept one of two contents, and always reject the other content", async () => {
    const till = createTill();
    const responses = await pushAtOnce([JSON.stringify(till), JSON.stringify({ ...till, note: "other content" })], 20);
    const first = responses.find(({ status }) => status === 201);
    for (const { status, body } of responses) {
      expect(status).toBeOneOf(body === first?.body ? [200, 201] : [409]);
    }
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    await expectOneReport(till);
    expect(await (await testLocation.request("GET", `/v1/tills/${till.id}/object`)).text()).toBe(first?.body);
  });
});
