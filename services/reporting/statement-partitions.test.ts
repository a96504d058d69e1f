import { randomUUID } from "node:crypto";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { eventually } from "@pragma/runtime/testing/eventually";
import { multiPartitionStatements } from "@pragma/runtime/testing/multi-partition-statements";
import {
  assertStatementsUseOnePartition,
  listMultiPartitionPlans,
  type StatementPlan,
} from "@pragma/runtime/testing/statement-recorder";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "./testing/start-test-reporting.ts";
import { buildTestOrder, buildTestTill } from "./testing/till-fixtures.ts";

const principal = buildTestPrincipalWithScopes("reports:read", "orders:read", "accounting:write");
const otherPrincipal = buildTestPrincipalWithScopes("accounting:write");
const { location: _, ...withoutLocation } = principal;
const operator = { ...withoutLocation, location: null, scopes: [...principal.scopes, "locations:any" as const] };
let service: TestReportingService;
let plans: StatementPlan[];

beforeAll(async () => {
  // With a retention, the task that erases expired data searches all locations when the service starts.
  service = await startTestReportingService({ PERSONAL_DATA_RETENTION_DAYS: "1" });
  const locationId = principal.location.id;
  const till = buildTestTill([buildTestOrder()]);
  const orderId = till.orderList[0]?.id ?? "";
  const otherTill = buildTestTill([buildTestOrder()]);
  await service.pushTills([till], locationId);
  await service.pushTills([otherTill], otherPrincipal.location.id);
  // A till with a common order, a repeated revision, a new revision, and a till in training mode.
  await service.pushTills([buildTestTill([buildTestOrder({ id: orderId })])], locationId);
  await service.pushTills([till], locationId);
  await service.pushTills([till], locationId, { revision: 2 });
  await service.pushTills([{ ...buildTestTill([]), isTraining: true }], locationId);

  const reportId = computeTillReportId(till.id);
  const reads = [
    ...["/v1/orders/", "/v1/orders/?size=1&index=1", `/v1/orders/?reportId=${reportId}&size=1&index=1`],
    ...["/v1/orders/?since=2020-01-01&until=2030-01-01", "/v2/reports/", "/v1/reports/"],
    ...["/v1/days/", "/v1/days/?size=1&index=1", "/v1/days/2026-05-29"],
  ];
  for (const path of reads) await service.request("GET", path, { principal });
  for (const reader of [principal, operator]) {
    for (const version of ["v1", "v2"]) {
      await service.request("GET", `/${version}/orders/${orderId}`, { principal: reader });
      await service.request("GET", `/${version}/reports/${reportId}`, { principal: reader });
    }
  }

  for (const id of [locationId, otherPrincipal.location.id]) service.accounts.addLocation({ id });
  const ids = `locationIds=${locationId},${otherPrincipal.location.id}`;
  for (const dimensions of ["day", "room,month", "product"]) {
    const path = `/v1/metrics/?measures=sales&dimensions=${dimensions}&since=2026-05-01&until=2026-06-15`;
    await service.request("GET", path, { principal });
    await service.request("GET", `${path}&${ids}`, { principal: operator });
  }

  const business = { siren: "732829320", siretCode: "73282932000074" };
  for (const id of [locationId, otherPrincipal.location.id])
    await service.pushTills([buildTestTill([buildTestOrder()], { siretCode: business.siretCode })], id);
  const settings = {
    ...{ companyName: "Chez Marcel", vatRegime: "monthly", platform: { number: "0123", name: "Plateforme" } },
  };
  await service.request("PUT", `/v1/e-reporting/declarants/${business.siren}`, { principal: operator, body: settings });
  const eReport = await service.request("GET", `/v1/e-reports/${business.siren}/transactions/2026-05-21`, {
    principal: operator,
  });
  expect(eReport.status).toBe(200);

  const createConfig = async (owner: typeof principal) => {
    const response = await service.request("POST", "/v1/accounting/configs", { principal: owner, body: {} });
    return ((await response.json()) as { id: string }).id;
  };
  const items = [
    { tillId: till.id, locationId, accountingConfigId: await createConfig(principal), accountingProvider: "FULLL" },
    {
      ...{ tillId: otherTill.id, locationId: otherPrincipal.location.id, accountingProvider: "FULLL" },
      accountingConfigId: await createConfig(otherPrincipal),
    },
  ];
  const createExport = async (owner: typeof principal | typeof operator, body: object[]) => {
    const exported = await service.request("POST", "/v1/accounting/exports", { principal: owner, body });
    expect(exported.status, await exported.clone().text()).toBe(202);
    const { id } = (await exported.json()) as { id: string };
    await eventually("the export to finish", async () => {
      const response = await service.request("GET", `/v1/accounting/exports/${id}`, { principal: owner });
      return ((await response.json()) as { finishedAt: string | null }).finishedAt !== null;
    });
    const file = await service.request("GET", `/v1/accounting/exports/${id}/files/1`, { principal: owner });
    expect(file.status).toBe(200);
    await file.text();
  };
  await createExport(operator, items);
  await createExport(principal, items.slice(0, 1));

  for (const selection of [{ orderIds: [orderId, randomUUID()] }, { before: new Date().toISOString().slice(0, 10) }]) {
    const response = await service.running.opsRoutes?.request("/erasures", {
      method: "POST",
      body: JSON.stringify({ locationId, ...selection }),
    });
    expect(response?.status).toBe(200);
  }
  plans = await service.statements.explainStatements(service.db);
}, 300_000);
afterAll(() => service?.remove());

it("reads and changes one partition of each table in a statement, except for the statements of operators", async () => {
  const texts = plans.filter(({ partitions }) => partitions.size > 0).map(({ text }) => text);
  const sent = [
    /^select .* from tills/,
    /^select .* from reports/,
    /^select .* from orders/,
    /^with page .* from day_counts/,
    /^with periods .* from day_counts/,
    /^select day::text as day, etag, body from days/,
    /^select count\(\*\) as total from days/,
    /^with found as .* from reports .* from orders_without_till/,
  ];
  const changed = [/^update tills/, /^update orders/, /^update day_counts/, /^delete from orders/];
  for (const pattern of [...sent, ...changed]) expect(texts).toContainEqual(expect.stringMatching(pattern));
  expect(texts.filter((text) => text.includes("tills_p")).length).toBe(32);
  await assertStatementsUseOnePartition(service.db, service.statements);
});

it("lists only statements that are sent", () => {
  const multiPartitionTexts = listMultiPartitionPlans(plans).map(({ text }) => text);
  for (const { service: name, pattern } of multiPartitionStatements) {
    if (name === "reporting") expect(multiPartitionTexts.some((text) => pattern.test(text))).toBe(true);
  }
});

it("finds a statement that does not name the location", async () => {
  const recorder = { ...service.statements };
  recorder.explainStatements = async () => [
    { text: "select 1 from orders", partitions: new Map([["orders", new Set(["orders_p00", "orders_p01"])]]) },
  ];
  await expect(assertStatementsUseOnePartition(service.db, recorder)).rejects.toThrow("select 1 from orders");
});
