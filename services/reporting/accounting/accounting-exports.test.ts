import { randomUUID } from "node:crypto";
import { AccountingExport, CreateAccountingExportResponse } from "@pragma/contracts/accounting-export";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { eventually } from "@pragma/runtime/testing/eventually";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { startTestService } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoredTillData } from "../documents/queries/reports.ts";
import {
  claimExports,
  type ExportClaim,
  releaseExportClaim,
  renewExportClaim,
  storeExportFiles,
} from "../exports/export-claims.ts";
import { deleteExpiredExports } from "../exports/queries/export-queries.ts";
import reporting, { createReportingOperatorRoutes } from "../service.ts";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../testing/till-fixtures.ts";
import { accountingExports } from "./accounting-exports.ts";
import writeTillEntries from "./write-till-entries.ts";

const principal = buildTestPrincipalWithScopes("accounting:write");
let service: TestReportingService;
let items: object[];
beforeAll(async () => {
  service = await startTestReportingService({ EXPORT_CLAIM_SECONDS: "10", DATABASE_POOL: "20" });
  items = await createExportItems(service);
});
afterAll(() => service?.remove());

/** Pushes a till for each element of `tillFields`. Returns an export item for each till, all with one new config. */
async function createExportItems(
  { pushTills, request }: TestReportingService,
  tillFields: Partial<TillV2Input>[] = [{}],
): Promise<object[]> {
  const rows = { productRowList: [buildTestOrderProductRow()], paymentRowList: [buildTestOrderPaymentRow()] };
  const orders = () => [buildTestOrder({ id: randomUUID(), total: 1100, ...rows })];
  const tills = tillFields.map((fields) => buildTestTill(orders(), { id: randomUUID(), ...fields }));
  await pushTills(tills, principal.location.id);
  const config = (await (await request("POST", "/v1/accounting/configs", { principal, body: {} })).json()) as {
    id: string;
  };
  return tills.map(({ id }) => ({ tillId: id, accountingConfigId: config.id, accountingProvider: "INEXWEB" }));
}

async function startExport({ request }: TestReportingService = service, body = items): Promise<string> {
  const response = await request("POST", "/v1/accounting/exports", { principal, body });
  return CreateAccountingExportResponse.parse(await response.json()).id;
}

async function readExport(
  id: string,
  { request }: Pick<TestReportingService, "request"> = service,
): Promise<AccountingExport> {
  return AccountingExport.parse(await (await request("GET", `/v1/accounting/exports/${id}`, { principal })).json());
}

const waitForState = (id: string, ...states: AccountingExport["state"][]) =>
  eventually(`the export to be ${states.join(" or ")}`, async () => {
    const result = await readExport(id);
    return states.includes(result.state) && result;
  });

async function findClaimNumber(id: string, { db } = service): Promise<number> {
  const [row] = await db.sql<{ claimNumber: number }[]>`select claim_number from exports where id = ${id}`;
  return row?.claimNumber ?? 0;
}

/** Runs `work` while a table lock blocks all exports. `countRunning` returns the number of running exports. */
async function whileExportsBlocked(
  work: (countRunning: () => Promise<number>) => Promise<void>,
  { db }: Pick<TestReportingService, "db"> = service,
): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`lock table reports in access exclusive mode`;
    await work(async () => (await tx`select 1 from exports where state = 'running'`).length);
  });
}

/**
 * Creates an export and resets it as if the process that ran it had crashed. Returns the expired claim of that process.
 */
async function createAbandonedExport(): Promise<ExportClaim> {
  const id = await startExport();
  await waitForState(id, "done");
  await service.db.transaction(async (tx) => {
    await tx`
      update export_files set name = null, object_key = null, bytes = null, sha256 = null,
        details = replace(details::text, '"done"', '"pending"')::json
      where export_id = ${id}`;
    await tx`update exports set state = 'running', claimed_until = now(), finished_at = null where id = ${id}`;
  });
  return { id, locationId: principal.location.id, claimNumber: 1, failedAttempts: 0, traceparent: null };
}

describe("two processes that run exports", () => {
  it("each run two exports at a time, run every export once, and release their claims when they stop", async () => {
    const testService = await startTestReportingService({ EXPORT_CLAIM_SECONDS: "600", DATABASE_POOL: "20" });
    const items = await createExportItems(testService, [{}, {}]);
    const registry = createServiceRegistry(testService.environment.variables);
    registry.registerLocalService("accounts", testService.accounts.fetch);
    const otherService = await startTestService(reporting, testService.environment, registry);
    const ids: string[] = [];
    let stopped: Promise<void> | undefined;
    await whileExportsBlocked(async (countRunning) => {
      for (let count = 0; count < 7; count += 1) ids.push(await startExport(testService, items));
      await eventually("two exports to run in each process", async () => (await countRunning()) === 4);
      stopped = testService.stop();
      await sleep(200);
    }, otherService);
    await stopped;
    for (const id of ids)
      await eventually("the export to be done", async () => (await readExport(id, otherService)).state === "done");
    const claimNumbers = await Promise.all(
      ids.map((id) => findClaimNumber(id, { ...testService, db: otherService.db })),
    );
    expect(claimNumbers.toSorted()).toEqual([1, 1, 1, 1, 1, 2, 2]);
    await otherService.stop();
    await testService.environment.remove();
  });
});

describe("the amounts of an export", () => {
  const readAmounts = async (currencyCode: string) => {
    const location = service.accounts.addLocation({ currencyCode });
    const owner = { ...principal, location: { ...principal.location, id: location.id } };
    const rows = { productRowList: [buildTestOrderProductRow()], paymentRowList: [buildTestOrderPaymentRow()] };
    const till = buildTestTill([buildTestOrder({ id: randomUUID(), total: 1100, ...rows })], { id: randomUUID() });
    await service.pushTills([till], location.id);
    const request = (method: "GET" | "POST", path: string, body?: object) =>
      service.request(method, path, { principal: owner, ...(body && { body }) });
    const config = (await (await request("POST", "/v1/accounting/configs", {})).json()) as { id: string };
    const item = { tillId: till.id, accountingConfigId: config.id, accountingProvider: "INEXWEB" };
    const created = await request("POST", "/v1/accounting/exports", [item]);
    const { id } = CreateAccountingExportResponse.parse(await created.json());
    const url = await eventually("the export to be done", async () => {
      const found = AccountingExport.parse(await (await request("GET", `/v1/accounting/exports/${id}`)).json());
      return found.state === "done" && found.files[0]?.fileUrl;
    });
    const text = await (await request("GET", new URL(url).pathname)).text();
    return text
      .split("\r\n")
      .slice(1, -1)
      .map((line) => line.split("\t").slice(11, 13));
  };

  it.each([
    ["EUR", "11,00", "0,00"],
    ["XPF", "1100", "0"],
    ["TND", "1,100", "0,000"],
  ])("have the decimals of the location's currency %s", async (currency, amount, zero) => {
    const [payment] = await readAmounts(currency);
    expect(payment).toEqual([amount, zero]);
  });
});

describe("pending accounting exports", () => {
  it("alternate between locations: many exports of one location do not delay another location", async () => {
    const { sql } = service.db;
    const [busyLocationId, otherLocationId] = [randomUUID(), randomUUID()];
    const row = { kind: "accounting", keyId: busyLocationId, consumer: "", request: sql`'{}'` };
    const rows = [busyLocationId, busyLocationId, busyLocationId, otherLocationId].map((locationId, second) => {
      return { ...row, id: randomUUID(), locationId, createdAt: new Date(Date.UTC(2020, 0, 1, 0, 0, second)) };
    });
    await sql.begin(async (tx) => {
      await tx`insert into exports ${tx(rows as never)}`;
      const claims = await claimExports(tx as never, accountingExports, { limit: 2, seconds: 60 });
      expect(claims.map(({ id }) => id).toSorted()).toEqual([rows[0]?.id, rows[3]?.id].toSorted());
      const [next] = await claimExports(tx as never, accountingExports, { limit: 1, seconds: 60 });
      expect(next?.id).toBe(rows[1]?.id);
      const late = { ...row, id: randomUUID(), locationId: randomUUID() };
      await tx`insert into exports ${tx(late as never)}`;
      const [other] = await claimExports(tx as never, accountingExports, { limit: 1, seconds: 60 });
      expect(other?.id).toBe(late.id);
      await tx`delete from exports where key_id = ${busyLocationId}`;
    });
  });

  it("are limited for each location", async () => {
    const testService = await startTestReportingService({ MAX_UNFINISHED_EXPORTS_PER_LOCATION: "2" });
    const body = await createExportItems(testService);
    await whileExportsBlocked(async () => {
      for (let count = 0; count < 2; count += 1) await startExport(testService, body);
      const problem = await testService.requestProblem({
        method: "POST",
        path: "/v1/accounting/exports",
        principal,
        body,
      });
      expect(problem).toMatchObject({ code: "limit_reached", limit: { name: "unfinished_exports", maximum: 2 } });
    }, testService);
    await eventually(
      "another export to be accepted",
      async () => (await testService.request("POST", "/v1/accounting/exports", { principal, body })).ok,
    );
    await testService.remove();
  });
});

describe("an accounting export whose attempt fails", () => {
  it("is retried after a delay and succeeds", async () => {
    const { sql } = service.db;
    await sql`alter table reports rename column finalized to finalized_elsewhere`;
    const id = await startExport();
    await eventually("a first attempt", async () => (await findClaimNumber(id)) === 1);
    await sleep(1_000);
    expect(await readExport(id)).toMatchObject({ state: "pending" });
    const listed = await (await createReportingOperatorRoutes(service).request("/exports")).json();
    expect(listed).toMatchObject([
      { exportId: id, kind: "accounting", state: "queued", failedAttempts: 1, claimedUntil: expect.any(String) },
    ]);
    await sql`alter table reports rename column finalized_elsewhere to finalized`;
    expect((await waitForState(id, "done", "failed")).state).toBe("done");
    expect(await findClaimNumber(id)).toBe(2);
  });
});

describe("an accounting export whose process crashed", () => {
  it("is run by another process, and the holder of the old claim can change nothing", async () => {
    const claim = await createAbandonedExport();
    const { id } = claim;
    const result = await waitForState(id, "done", "failed");
    expect(result.state).toBe("done");
    expect(await findClaimNumber(id)).toBe(2);
    const end = { state: "failed", retentionDays: 1 } as const;
    const storeLate = service.db.transaction((tx) => storeExportFiles(tx, claim, [], { progress: {}, end }));
    expect(await storeLate).toBe(false);
    expect(await renewExportClaim(service.db.sql, claim, { seconds: 60, progress: {} })).toBe(false);
    await releaseExportClaim(service.db.sql, claim);
    expect(await readExport(id)).toEqual(result);
  });

  it("fails when a second process crashed", async () => {
    const { id } = await createAbandonedExport();
    await service.db.sql`update exports set failed_attempts = 3 where id = ${id} and state = 'running'`;
    const result = await waitForState(id, "done", "failed");
    expect(result).toMatchObject({ state: "failed", files: [] });
    expect(result.tills.map(({ failure }) => failure)).toMatchObject([
      {
        code: "interrupted",
        day: "2026-05-29",
        reportNumber: 1,
        message: expect.stringMatching(/^Report 1 of 2026-05-29: /),
      },
    ]);
  });
});

describe("a till that cannot be exported", () => {
  it("is named by its day, its report number and its orders", async () => {
    const testService = await startTestReportingService();
    const { pushTills, request, remove } = testService;
    const [sold, unpaid] = [randomUUID(), randomUUID()];
    const fields = { productRowList: [buildTestOrderProductRow()], paymentRowList: [buildTestOrderPaymentRow()] };
    const orders = [
      buildTestOrder({ id: sold, total: 1100, ...fields }),
      buildTestOrder({ id: unpaid, total: 1100, ...fields, paymentRowList: [], tableName: "12" }),
    ];
    const till = buildTestTill(orders, { id: randomUUID(), reportNumber: 48, startedAt: "2026-05-28T22:30:00.000Z" });
    await pushTills([till], principal.location.id);
    const [{ accountingConfigId }] = (await createExportItems(testService)) as [{ accountingConfigId: string }];
    const id = await startExport(testService, [{ tillId: till.id, accountingConfigId, accountingProvider: "FULLL" }]);
    const result = await eventually("the export to fail", async () => {
      const current = await readExport(id, { request });
      return current.state === "failed" && current;
    });
    const order = { orderId: unpaid, openedAt: "2026-05-29T12:00:00.000Z", tableName: "12", total: 1100, amount: 1100 };
    expect(result.tills[0]?.failure).toMatchObject({
      ...{ code: "unbalanced", day: "2026-05-29", reportNumber: 48 },
      message: expect.stringMatching(/^Report 48 of 2026-05-29: /),
      gaps: [{ code: "payments", amount: 1100, orderCount: 1, orders: [order] }],
    });
    await remove();
  });
});

describe("an accounting export that exceeds the size limit", () => {
  it("exports the tills closed first, fails the other tills as too_large, and does not block the event loop", async () => {
    const movement = { amount: 100, type: "cash-in", name: "n" } as const;
    const closedOn = (day: number, movements: number) => ({
      finalizedAt: `2026-06-0${day}T20:00:00.000Z`,
      financialMovementList: Array.from({ length: movements }, () => movement),
    });
    const testService = await startTestReportingService({ EXPORT_MAX_BYTES: "1750000", PAGE_MAX_BYTES: "1024" });
    const body = await createExportItems(testService, [
      closedOn(4, 0),
      closedOn(3, 5_000),
      closedOn(2, 4_500),
      closedOn(1, 4_500),
    ]);
    let result: AccountingExport = expect.anything();
    const runExport = async () => {
      const id = await startExport(testService, body);
      result = await eventually("the export to finish", async () => {
        const current = await readExport(id, testService);
        return current.finishedAt !== null && current;
      });
    };
    // Not measured: the first export takes longer, because it starts the worker thread.
    await runExport();
    const blockMs = await measureLongestEventLoopBlockMs(runExport);
    const codes = result.tills.map(({ failure }) => failure?.code);
    expect([result.state, ...codes]).toEqual(["failed", "too_large", "too_large", undefined, undefined]);
    const [file] = result.files;
    const response = await testService.request("GET", new URL(file?.fileUrl ?? "").pathname, { principal });
    const content = Buffer.from(await response.arrayBuffer());
    expect(content.byteLength).toBe(file?.size);
    const lines = content.toString("latin1").split("\r\n").slice(1, -1);
    const numbers = lines.map((line) => Number(line.split("\t")[2]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect([numbers.length, numbers.at(-1)]).toEqual([2 * (9_000 + 3), 4]);
    const stored = await testService.db.sql<StoredTillData[]>`select v2, accounting_data from reports`;
    const startedMs = performance.now();
    for (const report of stored) {
      writeTillEntries({ stored: report, provider: "INEXWEB", config: "{}", currency: "EUR", entriesBefore: 0 });
    }
    expect(blockMs).toBeLessThan((performance.now() - startedMs) / 2);
    await testService.remove();
  }, 120_000);
});

describe("expired accounting exports", () => {
  it("are deleted with their files, and no other exports are deleted", async () => {
    const [expired, recent] = [await startExport(), await startExport()];
    for (const id of [expired, recent]) await waitForState(id, "done");
    await service.db.sql`update exports set expires_at = now() where id = ${expired}`;
    await deleteExpiredExports(service.db);
    expect(
      await service.requestProblem({ method: "GET", path: `/v1/accounting/exports/${expired}`, principal }),
    ).toMatchObject({
      code: "accounting_export_not_found",
    });
    expect(await readExport(recent)).toMatchObject({ state: "done", files: [{ tills: 1 }] });
  });
});
