import { randomUUID } from "node:crypto";
import { AccountingConfig } from "@pragma/contracts/accounting-config";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

const path = "/v1/accounting/configs";

async function createConfig(principal: Principal, body: object = {}): Promise<AccountingConfig> {
  const response = await service.request("POST", path, { principal, body });
  expect(response.status, await response.clone().text()).toBe(201);
  return AccountingConfig.parse(await response.json());
}

describe("POST /v1/accounting/configs/", () => {
  it("fills in defaults from the French chart of accounts for all fields", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    expect(await createConfig(principal)).toMatchObject({
      locationId: principal.location.id,
      journalCode: "CA",
      discountBooking: "net",
      discounts: { account: "709" },
      unpaid: { account: "411", label: "Clients" },
      tips: { account: "467" },
      deposits: { account: "4191" },
      shortage: { account: "658" },
      surplus: { account: "758" },
      payments: { cash: { account: "531", label: "Caisse" }, debt: { account: "411" }, deposit: { account: "4191" } },
      paymentMethods: [],
      customerAuxiliary: null,
    });
  });

  it("keeps the fields of the request and fills in the other fields", async () => {
    const sales = [{ taxRate: 1000, account: "7071", label: "Ventes à 10 %" }];
    const payments = { card: { account: "5121" } };
    const config = await createConfig(buildTestPrincipalWithScopes("accounting:write"), {
      name: "Cabinet Martin",
      sales,
      payments,
      tips: { label: "Pourboires" },
    });
    expect(config.sales).toEqual(sales);
    expect(config.payments.card).toEqual({ account: "5121", label: "Cartes bancaires à l'encaissement" });
    expect(config.payments.check.account).toBe("5112");
    expect(config.tips).toEqual({ account: "467", label: "Pourboires" });
  });

  it("reports all issues of a request at once", async () => {
    const body = {
      journalCode: "trop long",
      discounts: { account: "70x" },
      sales: [
        { taxRate: 1000, account: "706", label: "a" },
        { taxRate: 1000, account: "706", label: "b|c" },
      ],
      payments: { cash: { account: 531 } },
      discountBooking: "both",
    };
    const { errors = [] } = await service.requestProblem({
      method: "POST",
      path,
      principal: buildTestPrincipalWithScopes("accounting:write"),
      body,
    });
    expect(errors.map((issue) => issue.path).sort()).toEqual([
      "discountBooking",
      "discounts.account",
      "journalCode",
      "payments.cash.account",
      "sales",
      "sales[1].label",
    ]);
  });

  it("creates one config for repeated requests with the same Idempotency-Key", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const request = { principal, body: {}, headers: { "idempotency-key": randomUUID() } };
    const responses = [await service.request("POST", path, request), await service.request("POST", path, request)];
    const [first, second] = await Promise.all(responses.map((response) => response.json()));
    expect(second).toEqual(first);
    const list = await service.request("GET", path, { principal });
    expect(await list.json()).toMatchObject({ meta: { totalCount: 1 } });
  });

  it("accepts another location only if it exists and the key may act for any location", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const body = { locationId: randomUUID() };
    expect(await service.requestProblem({ method: "POST", path, principal, body })).toMatchObject({
      code: "location_forbidden",
    });
    const operator = buildTestPrincipalWithScopes("accounting:write", "locations:any");
    expect(await service.requestProblem({ method: "POST", path, principal: operator, body })).toMatchObject({
      code: "location_not_found",
    });
    service.accounts.addLocation(principal.location);
    expect(await createConfig(operator, { locationId: principal.location.id })).toMatchObject({
      locationId: principal.location.id,
    });
  });
});

describe("accounting configs of a location", () => {
  it("are listed newest first, page by page", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const names = ["one", "two", "three"];
    for (const name of names) await createConfig(principal, { name });
    const page = async (query: string) => {
      const response = await service.request("GET", `${path}?${query}`, { principal });
      return paginatedSchema(AccountingConfig).parse(await response.json());
    };
    const first = await page("size=2");
    expect(first.data.map(({ name }) => name)).toEqual(["three", "two"]);
    expect(first.meta).toEqual({ totalPage: 2, totalCount: 3, currentPageIndex: 0, pageSize: 2 });
    for (const query of ["size=2&index=1", `size=2&pageToken=${first.nextPageToken}`]) {
      const next = await page(query);
      expect(next.data.map(({ name }) => name)).toEqual(["one"]);
      expect(next).toMatchObject({ nextPageToken: null, links: { next: null } });
    }
    expect((await page("index=9")).data).toEqual([]);
  });

  it("can be read with an entity tag, replaced and deleted", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal, { name: "Brut", discountBooking: "gross", entryLabel: "Ventes" });
    const configPath = `${path}/${config.id}`;
    const response = await service.request("GET", configPath, { principal });
    const etag = response.headers.get("etag") ?? "";
    expect(await response.json()).toEqual(config);
    expect((await service.request("GET", configPath, { principal, headers: { "if-none-match": etag } })).status).toBe(
      304,
    );

    const replaced = await service.request("PUT", configPath, { principal, body: { name: "Net" } });
    const { updatedAt, ...current } = AccountingConfig.parse(await replaced.json());
    expect(current).toMatchObject({
      name: "Net",
      discountBooking: "net",
      entryLabel: "Caisse",
      createdAt: config.createdAt,
    });
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(config.updatedAt));
    const reread = await service.request("GET", configPath, { principal, headers: { "if-none-match": etag } });
    expect(await reread.json()).toEqual({ ...current, updatedAt });
    expect(reread.headers.get("etag")).toBe(replaced.headers.get("etag"));

    expect((await service.request("DELETE", configPath, { principal })).status).toBe(204);
    for (const method of ["GET", "DELETE"]) {
      expect(await service.requestProblem({ method, path: configPath, principal })).toMatchObject({
        code: "accounting_config_not_found",
      });
    }
  });

  it("returns 404 to keys of other locations", async () => {
    const { id } = await createConfig(buildTestPrincipalWithScopes("accounting:write"));
    const principal = buildTestPrincipalWithScopes("accounting:write");
    for (const [method, body] of [["GET"], ["PUT", {}], ["DELETE"]] as const) {
      expect(await service.requestProblem({ method, path: `${path}/${id}`, principal, body })).toMatchObject({
        code: "accounting_config_not_found",
      });
    }
    const operator = buildTestPrincipalWithScopes("accounting:write", "locations:any");
    expect((await service.request("GET", `${path}/${id}`, { principal: operator })).status).toBe(200);
  });

  it("returns scope_missing to a key without accounting:write", async () => {
    expect(
      await service.requestProblem({ method: "GET", path, principal: buildTestPrincipalWithScopes("reports:read") }),
    ).toMatchObject({
      code: "scope_missing",
    });
  });
});
