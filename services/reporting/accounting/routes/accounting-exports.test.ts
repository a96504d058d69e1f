import { randomUUID } from "node:crypto";
import {
  AccountingExport,
  AccountingExportListItem,
  CreateAccountingExportResponse,
} from "@pragma/contracts/accounting-export";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestPrincipalWithScopes,
  startTestReportingService,
  type TestReportingService,
} from "../../testing/start-test-reporting.ts";
import {
  buildTestOrder,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
  buildTestTill,
} from "../../testing/till-fixtures.ts";

let service: TestReportingService;
beforeAll(async () => {
  service = await startTestReportingService();
});
afterAll(() => service?.remove());

type KeyPrincipal = ReturnType<typeof buildTestPrincipalWithScopes>;

/** Returns a till with one order of 11.00. `paid` is the amount paid for this order, in minor units. */
function createPaidTill({ paid = 1100, ...fields }: Partial<TillV2> & { paid?: number } = {}): TillV2 {
  const order = buildTestOrder({
    id: randomUUID(),
    total: 1100,
    productRowList: [buildTestOrderProductRow()],
    paymentRowList: [buildTestOrderPaymentRow({ amount: paid })],
  });
  return buildTestTill([order], { id: randomUUID(), siretCode: "12345678900011", ...fields });
}

/** Pushes a till for each element of `fields`, waits for the reports, and returns the ids of the tills. */
async function pushTills(
  principal: KeyPrincipal,
  ...fields: Parameters<typeof createPaidTill>[0][]
): Promise<string[]> {
  const tills = fields.map((tillFields) => createPaidTill(tillFields));
  await service.pushTills(tills, principal.location.id);
  return tills.map(({ id }) => id);
}

async function createConfig(principal: Principal, body: object = {}): Promise<string> {
  const response = await service.request("POST", "/v1/accounting/configs", { principal, body });
  return ((await response.json()) as { id: string }).id;
}

const exportItem = (tillId: string, accountingConfigId: string, more: object = {}) => ({
  tillId,
  accountingConfigId,
  accountingProvider: "FULLL",
  ...more,
});

async function startExport(principal: Principal, body: object[]): Promise<CreateAccountingExportResponse> {
  const response = await service.request("POST", "/v1/accounting/exports/", { principal, body });
  expect(response.status, await response.clone().text()).toBe(202);
  const started = CreateAccountingExportResponse.parse(await response.json());
  expect(response.headers.get("location")).toBe(`/v1/accounting/exports/${started.id}`);
  return started;
}

async function waitUntilFinished(principal: Principal, id: string): Promise<AccountingExport> {
  return eventually("the export to finish", async () => {
    const response = await service.request("GET", `/v1/accounting/exports/${id}`, { principal });
    const result = AccountingExport.parse(await response.json());
    return result.finishedAt !== null && result;
  });
}

const runExport = async (principal: Principal, body: object[]) =>
  waitUntilFinished(principal, (await startExport(principal, body)).id);

const requestExportProblem = (principal: Principal, body: unknown) =>
  service.requestProblem({ method: "POST", path: "/v1/accounting/exports", principal, body });

describe("an accounting export", () => {
  it("produces a downloadable file of its tills", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const tills = await pushTills(principal, { reportNumber: 2 }, {});
    const { id, tillsIds } = await startExport(
      principal,
      tills.map((till) => exportItem(till, config)),
    );
    expect(tillsIds).toEqual(tills);

    const result = await waitUntilFinished(principal, id);
    const fileFields = { locationId: principal.location.id, accountingConfigId: config, accountingProvider: "FULLL" };
    expect(result).toMatchObject({ id, tillsIds: tills, state: "done" });
    expect(result.tills).toEqual(
      tills.map((tillId) => ({
        ...{ tillId, reportId: computeTillReportId(tillId), ...fileFields },
        ...{ state: "done", failure: null, fileNumber: 1 },
      })),
    );
    const fileUrl = `http://pragma.test/v1/accounting/exports/${id}/files/1`;
    expect(result.files).toEqual([
      {
        number: 1,
        ...fileFields,
        name: "123456789FEC20260529.txt",
        size: expect.any(Number),
        tills: 2,
        entries: 2,
        fileUrl,
      },
    ]);

    const { pathname } = new URL(fileUrl);
    const file = await service.request("GET", pathname, { principal });
    expect(file.headers.get("content-type")).toBe("text/plain; charset=iso-8859-15");
    expect(file.headers.get("content-disposition")).toBe('attachment; filename="123456789FEC20260529.txt"');
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.byteLength).toBe(result.files[0]?.size);
    expect(bytes.toString("latin1").split("\r\n")).toHaveLength(1 + 2 * 3 + 1);
    const etag = file.headers.get("etag") ?? "";
    const conditional = await service.request("GET", pathname, { principal, headers: { "if-none-match": etag } });
    expect([conditional.status, await conditional.text()]).toEqual([304, ""]);
  });

  it("dates entries with the day of the location's time zone on which the shift began", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const times = { startedAt: "2026-05-28T22:30:00.000Z", finalizedAt: "2026-05-29T23:00:00.000Z" };
    const [till = ""] = await pushTills(principal, times);
    const { id } = await runExport(principal, [exportItem(till, await createConfig(principal))]);
    const file = await service.request("GET", `/v1/accounting/exports/${id}/files/1`, { principal });
    const [, line = ""] = (await file.text()).split("\r\n");
    expect(line.split("\t")).toMatchObject({ 3: "20260529", 9: "20260529", 15: "20260530" });
  });

  it("has a file for each config and provider, and uses the configs as of the request", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const [one, other] = [await createConfig(principal, { journalCode: "ONE" }), await createConfig(principal)];
    const [till = ""] = await pushTills(principal, {});
    const { id } = await startExport(principal, [
      exportItem(till, one),
      exportItem(till, other),
      exportItem(till, one, { accountingProvider: "ISACOMPTA" }),
    ]);
    await service.request("PUT", `/v1/accounting/configs/${one}`, { principal, body: { journalCode: "LATER" } });
    await service.request("DELETE", `/v1/accounting/configs/${other}`, { principal });
    const result = await waitUntilFinished(principal, id);
    expect(result.tillsIds).toEqual([till]);
    expect(result.files.map((file) => [file.accountingConfigId, file.accountingProvider])).toEqual([
      [one, "FULLL"],
      [other, "FULLL"],
      [one, "ISACOMPTA"],
    ]);
    const lines = await Promise.all(
      result.files.map(async ({ number }) => {
        const file = await service.request("GET", `/v1/accounting/exports/${id}/files/${number}`, { principal });
        return (await file.text()).split("\r\n")[1];
      }),
    );
    expect(lines.map((line) => line?.slice(0, 4))).toEqual(["ONE\t", "CA\tC", "ONE|"]);
  });

  it("reports the gap of an unbalanced till and exports the other tills", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [balanced = "", unbalanced = ""] = await pushTills(principal, {}, { paid: 1000 });
    const result = await runExport(principal, [exportItem(balanced, config), exportItem(unbalanced, config)]);
    expect(result.state).toBe("failed");
    expect(result.tills.map(({ state, fileNumber }) => [state, fileNumber])).toEqual([
      ["done", 1],
      ["failed", null],
    ]);
    expect(result.tills[1]?.failure).toMatchObject({ code: "unbalanced", gaps: [{ code: "payments", amount: 100 }] });
    expect(result.files).toMatchObject([{ tills: 1, entries: 1 }]);
  });

  it("has no file when none of its tills can be exported", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [training = "", unbalanced = ""] = await pushTills(principal, { isTraining: true }, { paid: 1000 });
    const result = await runExport(principal, [exportItem(training, config), exportItem(unbalanced, config)]);
    expect(result).toMatchObject({ state: "failed", files: [] });
    expect(result.tills.map(({ failure }) => failure?.code)).toEqual(["no_report", "unbalanced"]);
    expect(
      await service.requestProblem({ method: "GET", path: `/v1/accounting/exports/${result.id}/files/1`, principal }),
    ).toMatchObject({
      code: "accounting_file_not_found",
    });
  });

  it("exports the other tills when one till fails with an unexpected error", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [intact = "", broken = ""] = await pushTills(principal, {}, {});
    await service.db.sql`update reports set accounting_data = '{' where till_id = ${broken}`;
    const result = await runExport(principal, [exportItem(broken, config), exportItem(intact, config)]);
    expect(result.tills.map(({ failure }) => failure?.code)).toEqual(["internal_error", undefined]);
  });

  it("starts once for repeated requests with the same Idempotency-Key", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const [till = ""] = await pushTills(principal, {});
    const body = [exportItem(till, await createConfig(principal))];
    const request = { principal, body, headers: { "idempotency-key": randomUUID() } };
    const responses: CreateAccountingExportResponse[] = [];
    for (const _ of [1, 2]) {
      const response = await service.request("POST", "/v1/accounting/exports", request);
      responses.push(CreateAccountingExportResponse.parse(await response.json()));
    }
    expect(responses[1]).toEqual(responses[0]);
    await waitUntilFinished(principal, responses[0]?.id ?? "");
    const [row] = await service.db.sql`
      select count(*) as n from exports where location_id = ${principal.location.id}`;
    expect(row?.n).toBe(1);
  });
});

describe("accounting exports of a location", () => {
  const listExports = async (principal: Principal, query = "") => {
    const response = await service.request("GET", `/v1/accounting/exports${query}`, { principal });
    return paginatedSchema(AccountingExportListItem).parse(await response.json());
  };

  it("are listed newest first, with the numbers of their tills and files", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [balanced = "", unbalanced = ""] = await pushTills(principal, {}, { paid: 1000 });
    const first = await runExport(principal, [exportItem(balanced, config), exportItem(unbalanced, config)]);
    const second = await runExport(principal, [exportItem(balanced, config)]);
    const page = await listExports(principal, "?size=1");
    const { id, state, createdAt, startedAt, finishedAt } = second;
    const bytes = second.files[0]?.size;
    expect(page.data).toEqual([
      { id, state, createdAt, startedAt, finishedAt, tillCount: 1, failedTillCount: 0, fileCount: 1, bytes },
    ]);
    expect(page.meta.totalCount).toBe(2);
    const { data } = await listExports(principal, `?size=1&pageToken=${page.nextPageToken}`);
    expect(data).toMatchObject([
      { id: first.id, state: "failed", tillCount: 2, failedTillCount: 1, fileCount: 1, bytes: first.files[0]?.size },
    ]);
  });

  it("are listed for keys of this location only, or with locations:any", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const [till = ""] = await pushTills(principal, {});
    const { id } = await runExport(principal, [exportItem(till, await createConfig(principal))]);
    const stranger = buildTestPrincipalWithScopes("accounting:write");
    expect((await listExports(stranger)).data).toEqual([]);
    const path = `/v1/accounting/exports?locationId=${principal.location.id}`;
    expect(await service.requestProblem({ method: "GET", path, principal: stranger })).toMatchObject({
      code: "location_forbidden",
    });
    const operator = buildTestPrincipalWithScopes("accounting:write", "locations:any");
    const { data } = await listExports(operator, `?locationId=${principal.location.id}`);
    expect(data.map((item) => item.id)).toEqual([id]);
  });
});

describe("an invalid export request", () => {
  it("returns all format issues at once", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const body = [{ tillId: "x", accountingProvider: "SAGE", accountingConfigId: randomUUID() }, {}];
    const { errors = [] } = await requestExportProblem(principal, body);
    expect(errors.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "[0].tillId invalid_format",
      "[0].accountingProvider invalid_value",
      "[1].tillId required",
      "[1].accountingConfigId required",
      "[1].accountingProvider required",
    ]);
    expect(await requestExportProblem(principal, [])).toMatchObject({ errors: [{ path: "", code: "too_small" }] });
    const item = exportItem(randomUUID(), randomUUID());
    expect(await requestExportProblem(principal, Array(501).fill(item))).toMatchObject({
      errors: [{ path: "", code: "too_big" }],
    });
  });

  it("returns every unknown till, unknown config and duplicate item", async () => {
    const [principal, otherPrincipal] = [
      buildTestPrincipalWithScopes("accounting:write"),
      buildTestPrincipalWithScopes("accounting:write"),
    ];
    const [[till = ""], config] = [await pushTills(principal, {}), await createConfig(principal)];
    const [[otherTill = ""], otherConfig] = [await pushTills(otherPrincipal, {}), await createConfig(otherPrincipal)];
    const { code, errors = [] } = await requestExportProblem(principal, [
      exportItem(till, config),
      exportItem(otherTill, otherConfig),
      exportItem(randomUUID(), config),
      exportItem(till.toUpperCase(), config),
    ]);
    expect(code).toBe("invalid_request");
    expect(errors.map((issue) => `${issue.path} ${issue.code}`)).toEqual([
      "[1].tillId unknown_till",
      "[1].accountingConfigId unknown_config",
      "[2].tillId unknown_till",
      "[3] duplicate",
    ]);
    const rows = await service.db.sql`select 1 from exports where location_id = ${principal.location.id}`;
    expect(rows).toHaveLength(0);
  });

  it("returns location_forbidden with the path of an item of another location", async () => {
    const principal = buildTestPrincipalWithScopes("accounting:write");
    const [[till = ""], config] = [await pushTills(principal, {}), await createConfig(principal)];
    const foreignItem = exportItem(till, config, { locationId: randomUUID() });
    const problem = await requestExportProblem(principal, [exportItem(till, config), foreignItem]);
    expect(problem).toMatchObject({ code: "location_forbidden", detail: expect.stringContaining("[1].locationId") });
    const keyWithoutLocation = { ...principal, location: null, scopes: ["accounting:write", "locations:any"] };
    expect(await requestExportProblem(keyWithoutLocation, [exportItem(till, config)])).toMatchObject({
      errors: [{ in: "body", path: "[0].locationId", code: "required" }],
    });
  });
});

describe("an accounting export of several locations", () => {
  it("can be created and read only with keys that may act for any location", async () => {
    const principals = [
      buildTestPrincipalWithScopes("accounting:write"),
      buildTestPrincipalWithScopes("accounting:write"),
    ];
    const operator = buildTestPrincipalWithScopes("accounting:write", "locations:any");
    const items = await Promise.all(
      principals.map(async (principal) => {
        const [till = ""] = await pushTills(principal, {});
        return exportItem(till, await createConfig(principal), { locationId: principal.location.id.toUpperCase() });
      }),
    );
    const result = await runExport(operator, items);
    expect(result.state).toBe("done");
    expect(result.files.map(({ locationId }) => locationId)).toEqual(principals.map(({ location }) => location.id));
    for (const path of [`/v1/accounting/exports/${result.id}`, `/v1/accounting/exports/${result.id}/files/1`]) {
      expect((await service.request("GET", path, { principal: operator })).status).toBe(200);
      for (const principal of principals) {
        expect(await service.requestProblem({ method: "GET", path, principal })).toMatchObject({
          code: "accounting_export_not_found",
        });
      }
    }
    const singleLocationExport = await runExport(operator, items.slice(0, 1));
    const [principal = operator] = principals;
    expect(
      (await service.request("GET", `/v1/accounting/exports/${singleLocationExport.id}`, { principal })).status,
    ).toBe(200);
  });
});
