import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Day } from "@pragma/contracts/day";
import { TillDryRun } from "@pragma/contracts/till-dry-run";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import type { GeneratedTill } from "@pragma/simulator/generate-till";
import { generateTill } from "@pragma/simulator/generate-till";
import { buildSimulatedOrderLiveInput } from "@pragma/simulator/order-revisions";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertGeneratedTillToV1 } from "./harness/convert-till-to-v1.ts";
import { startPragmaInTestProcess } from "./harness/pragma-in-process.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/** The quota of each location. */
const maxDryRuns = 4;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTestAccess & { stop(): Promise<void> };
let sql: postgres.Sql;
let receiver: Server;
/** The warnings and errors of the product, and the events that it handled. */
const logLines: string[] = [];
const received: { event: string; locationId: string; day: string; dayRevision: number }[] = [];

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ MAX_TILL_DRY_RUNS_PER_DAY: String(maxDryRuns) });
  const write = (line: string) => void (/"event":|"level":"(?!info)/.test(line) && logLines.push(line));
  const log = createLogger({ name: "test", level: "info", destination: { write } });
  product = await startPragmaInTestProcess(environment.variables, { log });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  receiver = createServer(async (request, response) => {
    const { meta, data } = JSON.parse(await text(request));
    received.push({ event: meta.event, ...data });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
}, 300_000);
afterAll(async () => {
  receiver?.close();
  await sql?.end();
  await product?.stop();
  await environment?.remove();
});

const createLocation = () =>
  createTestLocation(product, {
    scopes: ["tills:read", "tills:write", "orders:read", "orders:write", "reports:read", "webhooks:write"],
  });
/** A day is closed although canceled orders, or orders in training mode, are missing in its till. */
const mix = { canceledOrder: 0, trainingOrder: 0 };
const buildTill = (day = "2026-05-29", fields: Partial<GeneratedTill> = {}): GeneratedTill => ({
  ...generateTill({ seed: "days", orders: 3, day, tillId: randomUUID(), mix }),
  ...fields,
});
const readDay = async (location: TestLocation, day = "2026-05-29") =>
  Day.parse(await location.getJson(`/v1/days/${day}`));
const awaitState = (location: TestLocation, state: Day["state"]) =>
  eventually(`the day to be ${state}`, async () => {
    const day = await readDay(location);
    if (day.state !== state) throw new Error(`${JSON.stringify(day)}\n${logLines.join("")}`);
    return day;
  });
const sendLiveOrders = (location: TestLocation, till: GeneratedTill, orders = till.orderList) =>
  location.create(
    "/v1/orders-live/",
    orders.map((order) => buildSimulatedOrderLiveInput(till, { ...order, tillId: till.id })),
  );

describe("a business day", () => {
  it("is open while orders are live, then incomplete without one of them, then closed, each with one webhook", async () => {
    const location = await createLocation();
    const { id: recipientId } = await location.create("/v1/recipients", { name: "Days" });
    const { port } = receiver.address() as AddressInfo;
    const events = ["day.closed", "day.incomplete"];
    await location.create("/v1/webhooks", { recipientId, endpointUrl: `http://127.0.0.1:${port}/`, events });
    const till = buildTill();
    const [missing, ...others] = till.orderList;
    await sendLiveOrders(location, till);
    const open = await awaitState(location, "open");
    expect(open).toMatchObject({ tillCount: 0, openShifts: [{ tillId: till.id }] });
    await location.pushTillWithRetries({ ...till, orderList: others });
    const incomplete = await awaitState(location, "incomplete");
    expect(incomplete).toMatchObject({ tillCount: 1, openShifts: [], reasons: [{ code: "orders_without_till" }] });
    const check = incomplete.reconciliation.find(({ code }) => code === "orders_without_till");
    expect(check).toMatchObject({
      status: "failed",
      amounts: [{ name: "withoutTill", amount: missing?.total }],
      findings: [{ tillId: till.id, orderId: missing?.id }],
    });
    await location.request("PUT", `/v1/tills/${till.id}`, { body: till });
    await awaitState(location, "closed");
    const ofLocation = () => received.filter(({ locationId }) => locationId === location.locationId);
    await eventually("the webhooks", () => ofLocation().length >= 2);
    expect(
      ofLocation()
        .map(({ event }) => event)
        .sort(),
    ).toEqual(["day.closed", "day.incomplete"]);
  });
});

describe("a push with dryRun=true", () => {
  /** Counts the rows of all tables, except statistics and what periodic tasks change, and the stored objects. */
  async function countEverything(): Promise<Record<string, number>> {
    const tables = await sql<{ name: string }[]>`
      select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
      where table_schema like ${`${environment.namespace}%`} and table_type = 'BASE TABLE'
        and table_name not like 'request_counts%' and table_name not like 'failed_requests%'
        and table_name not like 'sent_events%'
        and table_name not in (
          'inbox', 'outbox', 'replica_heartbeat', 'daily_usage', 'unsequenced_changes', 'all_changes'
        )`;
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await sql<[{ count: string }]>`select count(*) as count from ${sql.unsafe(name)}`;
      counts[name] = Number(row.count);
    }
    const folder = (environment.variables.OBJECT_STORE ?? "").replace(/^file:/, "");
    counts.objects = (await readdir(folder, { recursive: true }).catch(() => [])).length;
    return counts;
  }
  const dryRun = async (location: TestLocation, till: object, version = "v2") => {
    const response = await location.request("POST", `/${version}/tills/?dryRun=true`, {
      body: till,
      headers: { "idempotency-key": "the-same-for-all" },
    });
    return { status: response.status, body: await response.json() };
  };

  it("returns the checks of V1 and V2 tills and their day, and stores nothing", async () => {
    const location = await createLocation();
    const stored = buildTill("2026-05-28", { reportNumber: 10 });
    await location.pushTillWithRetries(stored);
    await location.waitForReports(1);
    await location.waitForTillStates();
    const before = await countEverything();
    const till = buildTill("2026-05-29", { reportNumber: 12, initialCashBalance: 0, finalCashBalance: 1 });
    const { status, body } = await dryRun(location, till);
    expect(status).toBe(200);
    const result = TillDryRun.parse(body);
    expect(result).toMatchObject({
      ...{
        tillId: till.id,
        locationId: location.locationId,
        reportState: "done",
        reportParkedReason: null,
        warnings: [],
      },
      till: { reportNumber: 12, tillRevision: 1, isComplete: true },
      day: { day: "2026-05-29", state: "incomplete", reasons: [{ code: "report_number_gap" }], tillCount: 1 },
    });
    const failed = result.reconciliation.filter((check) => check.status === "failed").map(({ code }) => code);
    expect(failed).toEqual(expect.arrayContaining(["cash", "report_number_gaps"]));
    const tillV1 = convertGeneratedTillToV1(buildTill("2026-05-29", { reportNumber: 11 }), location);
    const v1 = TillDryRun.parse((await dryRun(location, tillV1, "v1")).body);
    expect(v1).toMatchObject({ reportState: "done", day: { state: "closed", tillCount: 1 } });

    const inDollars = JSON.parse(JSON.stringify(till).replaceAll('"currencyCode":"EUR"', '"currencyCode":"USD"'));
    const { warnings } = TillDryRun.parse((await dryRun(location, inDollars)).body);
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ["other_currency", expect.stringContaining("The currency of the location is EUR")],
    ]);
    const training = await dryRun(location, { ...till, isTraining: true });
    expect(training).toMatchObject({ status: 200, body: { reportState: "training", till: null, day: null } });
    const invalid = await dryRun(location, { ...till, reportNumber: "x" });
    expect(invalid).toMatchObject({ status: 400, body: { errors: [{ path: "reportNumber" }] } });
    expect(await dryRun(location, { ...stored, note: "changed" })).toMatchObject({
      ...{ status: 409, body: { code: "till_conflict" } },
    });
    expect(await countEverything()).toEqual(before);
    expect((await location.request("GET", `/v1/tills/${till.id}`)).status).toBe(404);
    expect((await location.request("GET", "/v1/days/2026-05-29")).status).toBe(404);
    expect(await readDay(location, "2026-05-28")).toMatchObject({ dayRevision: 1 });
  });

  it("counts toward a quota of the location, if it is valid", async () => {
    const location = await createLocation();
    const till = buildTill();
    expect((await dryRun(location, { ...till, reportNumber: "x" })).status).toBe(400);
    for (let count = 0; count < maxDryRuns; count += 1) expect((await dryRun(location, till)).status).toBe(200);
    expect(await dryRun(location, till)).toMatchObject({
      ...{ status: 429, body: { code: "quota_exceeded", limit: { name: "till_dry_runs", maximum: maxDryRuns } } },
    });
    // Pushes have a quota of their own.
    await location.pushTillWithRetries(till);
  });
});
