import { randomUUID } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import {
  type InterruptingProxy,
  type Interruption,
  startInterruptingProxy,
} from "@pragma/runtime/testing/interrupting-proxy";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "./testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "./testing/till-fixtures.ts";

/**
 * The number of bytes of a response after which the connection is closed grows by this step, or less for a small response.
 * The soak tries all.
 */
const maxStep = Number(process.env.INTERRUPTED_BYTES_STEP ?? 149);
const minSteps = 10;
const poolSize = 2;
const principal = buildTestPrincipalWithScopes("reports:read", "orders:read", "accounting:write");

let proxy: InterruptingProxy;
let service: TestReportingService;
let ids: { order: string; otherOrder: string; report: string; export: string };

beforeAll(async () => {
  proxy = await startInterruptingProxy(process.env.DATABASE_URL ?? "");
  service = await startTestReportingService({
    DATABASE_URL: proxy.url,
    DATABASE_POOL: String(poolSize),
    PAGE_MAX_BYTES: "100000000",
  });
  const rows = { productRowList: [buildTestOrderProductRow()], paymentRowList: [buildTestOrderPaymentRow()] };
  const orders = [0, 1].map(() => buildTestOrder({ id: randomUUID(), total: 1100, ...rows }));
  const till = buildTestTill(orders, { id: randomUUID() });
  await service.pushTills([till], principal.location.id);
  const config = await createConfig(randomUUID());
  const exported = await service.request("POST", "/v1/accounting/exports", {
    principal,
    body: [{ tillId: till.id, accountingConfigId: config.id, accountingProvider: "FULLL" }],
  });
  const { id } = (await exported.json()) as { id: string };
  const [order = "", otherOrder = ""] = orders.map((each) => each.id);
  ids = { order, otherOrder, report: computeTillReportId(till.id), export: id };
  await eventually(
    "the export to be done",
    async () => (await get(`/v1/accounting/exports/${id}`)).text?.includes('"state":"done"') ?? false,
  );
}, 300_000);
afterAll(async () => {
  await service?.remove();
  await proxy?.close();
});

interface ReceivedResponse {
  status: number;
  /** Undefined if the response ended before its body was complete, which clients notice. */
  text: string | undefined;
}

async function get(path: string): Promise<ReceivedResponse> {
  const response = await service.request("GET", path, { principal });
  const text = await response.text().catch(() => undefined);
  return { status: response.status, text: text?.replace(/"requestId":"[^"]+"/, "") };
}

async function createConfig(key: string) {
  const response = await service.request("POST", "/v1/accounting/configs", {
    principal,
    body: {},
    headers: { "idempotency-key": key },
  });
  return { status: response.status, ...((await response.json()) as { id: string }) };
}

/**
 * Calls `attempt` for numbers of bytes from 0 to the size of the database's responses to a request, which `send` sends
 * without an interruption. Returns the number of interruptions.
 */
async function forEachInterruption(
  marker: () => string,
  { send, attempt }: { send: () => Promise<unknown>; attempt: (interruption: Interruption) => Promise<void> },
): Promise<number> {
  const whole = proxy.interrupt(marker(), Number.POSITIVE_INFINITY);
  await send();
  whole.end();
  expect(whole.byteCount).toBeGreaterThan(0);
  const step = Math.min(maxStep, Math.ceil(whole.byteCount / minSteps));
  let interruptionCount = 0;
  for (let maxBytes = 0; maxBytes < whole.byteCount; maxBytes += step) {
    const interruption = proxy.interrupt(marker(), maxBytes);
    try {
      await attempt(interruption);
    } catch (error) {
      throw new Error(`The connection was closed after ${maxBytes} bytes.`, { cause: error });
    } finally {
      interruption.end();
    }
    if (interruption.isInterrupted) interruptionCount += 1;
  }
  return interruptionCount;
}

/** Sends requests at the same time, so that they share connections. */
async function expectCorrectOrUnavailable(paths: string[], expected: Map<string, ReceivedResponse>): Promise<void> {
  const responses = await Promise.all(paths.map(get));
  for (const [index, response] of responses.entries()) {
    const correct = expected.get(paths[index] as string);
    // A body that ends too early is an error that the client sees.
    if (response.status === 503 || (response.status === 200 && response.text === undefined)) continue;
    expect(response).toEqual(correct);
  }
}

describe("a database connection that is closed in the middle of a result", () => {
  it.each([
    ["a V2 order", () => `/v2/orders/${ids.order}`, () => ids.order],
    ["a V1 order", () => `/v1/orders/${ids.order}`, () => ids.order],
    ["a report", () => `/v2/reports/${ids.report}`, () => ids.report],
    ["a page of orders", () => "/v1/orders?size=1&index=1", () => principal.location.id],
    ["a page of reports", () => "/v2/reports?size=1", () => principal.location.id],
    ["an accounting export", () => `/v1/accounting/exports/${ids.export}`, () => ids.export],
    ["a file of an export", () => `/v1/accounting/exports/${ids.export}/files/1`, () => ids.export],
  ])(
    "makes a request for %s fail with 503, and later requests succeed",
    { timeout: 600_000 },
    async (_, path, marker) => {
      const missing = `/v2/orders/${randomUUID()}`;
      const paths = [path(), path(), `/v2/orders/${ids.otherOrder}`, missing];
      const expected = new Map<string, ReceivedResponse>();
      for (const each of new Set(paths)) expected.set(each, await get(each));
      expect([...expected.values()].map(({ status }) => status)).toEqual(
        [...new Set(paths)].map((each) => (each === missing ? 404 : 200)),
      );
      const interruptionCount = await forEachInterruption(marker, {
        send: () => get(path()),
        async attempt(interruption) {
          await expectCorrectOrUnavailable(paths, expected);
          interruption.end();
          // On all connections of the pool, on which the statements are prepared again.
          for (const each of Array(poolSize).fill(paths).flat()) expect(await get(each)).toEqual(expected.get(each));
        },
      });
      expect(interruptionCount).toBeGreaterThan(3);
    },
  );

  it("creates an object once when the request is repeated with its idempotency key", { timeout: 600_000 }, async () => {
    const createdIds = new Set<string>();
    const interruptionCount = await forEachInterruption(() => principal.location.id, {
      send: async () => createdIds.add((await createConfig(randomUUID())).id),
      async attempt(interruption) {
        const key = randomUUID();
        const first = await createConfig(key);
        expect([201, 503]).toContain(first.status);
        interruption.end();
        const repeated = await eventually("the repeated request to succeed", async () => {
          const response = await createConfig(key);
          expect([201, 409, 503]).toContain(response.status);
          return response.status === 201 && response;
        });
        if (first.status === 201) expect(repeated.id).toBe(first.id);
        createdIds.add(repeated.id);
      },
    });
    expect(interruptionCount).toBeGreaterThan(3);
    const stored = await service.db.sql<{ id: string }[]>`
      select id from accounting_configs where location_id = ${principal.location.id}`;
    // One more is the config of the export.
    expect(stored).toHaveLength(createdIds.size + 1);
    expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining([...createdIds]));
  });
});

describe("a statement that PostgreSQL cancels after its first rows", () => {
  it("makes the request fail with 503, and later requests succeed", { timeout: 120_000 }, async () => {
    const missing = `/v2/orders/${randomUUID()}`;
    const paths = [`/v2/orders/${ids.order}`, `/v2/reports/${ids.report}`, missing];
    const expected = new Map<string, ReceivedResponse>();
    for (const path of paths) expected.set(path, await get(path));
    // A page of orders that is larger than what the sockets between PostgreSQL and the service can hold.
    const largeTill = buildTestTill(
      Array.from({ length: 40 }, () => buildTestOrder({ id: randomUUID() })),
      { id: randomUUID() },
    );
    await service.pushTills([largeTill], principal.location.id);
    await service.db.sql`
      update orders set v1 = '"' || repeat('x', 1000000) || '"' where till_id = ${largeTill.id}`;
    const server = postgres(process.env.DATABASE_URL ?? "", { max: 1 });
    for (let attempt = 0; attempt < 2 * poolSize; attempt += 1) {
      const reportId = computeTillReportId(largeTill.id);
      const interruption = proxy.interrupt(reportId, 100_000, "pause");
      const page = get(`/v1/orders?reportId=${reportId}&size=40`);
      try {
        await eventually("PostgreSQL to wait until it can send more", async () => {
          const canceled = await server`
            select pg_cancel_backend(pid) from pg_stat_activity
            where starts_with(application_name, ${service.db.schema}) and wait_event = 'ClientWrite'`;
          return canceled.length > 0;
        });
      } finally {
        interruption.end();
      }
      expect((await page).status).toBe(503);
      for (const path of Array(poolSize).fill(paths).flat()) expect(await get(path)).toEqual(expected.get(path));
    }
    await server.end();
  });
});
