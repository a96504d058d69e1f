import { randomUUID } from "node:crypto";
import { AccountingExport, StartedAccountingExport } from "@pragma/contracts/accounting-export";
import type { Principal } from "@pragma/contracts/principal";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { principalWithScopes, startTestReporting, type TestReporting } from "../testing/start-test-reporting.ts";
import {
  createTestOrder,
  createTestPaymentRow,
  createTestProductRow,
  createTestTill,
} from "../testing/till-fixtures.ts";

let service: TestReporting;
beforeAll(async () => {
  service = await startTestReporting();
});
afterAll(() => service?.remove());

type KeyPrincipal = ReturnType<typeof principalWithScopes>;

/** A till with one order of 11.00, paid in part where asked. */
function createPaidTill({ paid = 1100, ...fields }: Partial<TillV2> & { paid?: number } = {}): TillV2 {
  const order = createTestOrder({
    id: randomUUID(),
    total: 1100,
    productRowList: [createTestProductRow()],
    paymentRowList: [createTestPaymentRow({ amount: paid })],
  });
  return createTestTill([order], { id: randomUUID(), siretCode: "12345678900011", ...fields });
}

/** The ids of tills of the key's location that have come to their reports, one for each of these. */
async function pushTills(principal: KeyPrincipal, ...tills: Parameters<typeof createPaidTill>[0][]): Promise<string[]> {
  const made = tills.map((fields) => createPaidTill(fields));
  await service.pushTills(made, principal.location.id);
  return made.map(({ id }) => id);
}

async function createConfig(principal: Principal, body: object = {}): Promise<string> {
  const answer = await service.request("POST", "/v1/accounting/configs", { principal, body });
  return ((await answer.json()) as { id: string }).id;
}

const exportItem = (tillId: string, accountingConfigId: string, more: object = {}) => ({
  tillId,
  accountingConfigId,
  accountingProvider: "FULLL",
  ...more,
});

async function startExport(principal: Principal, body: object[]): Promise<StartedAccountingExport> {
  const answer = await service.request("POST", "/v1/accounting/exports/", { principal, body });
  expect(answer.status, await answer.clone().text()).toBe(202);
  const reply = StartedAccountingExport.parse(await answer.json());
  expect(answer.headers.get("location")).toBe(`/v1/accounting/exports/${reply.id}`);
  return reply;
}

async function waitUntilFinished(principal: Principal, id: string): Promise<AccountingExport> {
  return eventually("the export to come to its end", async () => {
    const answer = await service.request("GET", `/v1/accounting/exports/${id}`, { principal });
    const reply = AccountingExport.parse(await answer.json());
    return reply.finishedAt !== null && reply;
  });
}

const runExport = async (principal: Principal, body: object[]) =>
  waitUntilFinished(principal, (await startExport(principal, body)).id);

const requestExportProblem = (principal: Principal, body: unknown) =>
  service.requestProblem("POST", "/v1/accounting/exports", { principal, body });

describe("an export", () => {
  it("comes to a file of its tills, which is saved under its name", async () => {
    const principal = principalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const tills = await pushTills(principal, { reportNumber: 2 }, {});
    const { id, tillsIds } = await startExport(
      principal,
      tills.map((till) => exportItem(till, config)),
    );
    expect(tillsIds).toEqual(tills);

    const reply = await waitUntilFinished(principal, id);
    const place = { locationId: principal.location.id, accountingConfigId: config, accountingProvider: "FULLL" };
    expect(reply).toMatchObject({ id, tillsIds: tills, state: "done" });
    expect(reply.tills).toEqual(
      tills.map((tillId) => ({ tillId, ...place, state: "done", failure: null, fileNumber: 1 })),
    );
    const fileUrl = `http://pragma.test/v1/accounting/exports/${id}/files/1`;
    expect(reply.files).toEqual([
      {
        number: 1,
        ...place,
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
    expect(bytes.byteLength).toBe(reply.files[0]?.size);
    expect(bytes.toString("latin1").split("\r\n")).toHaveLength(1 + 2 * 3 + 1);
    const etag = file.headers.get("etag") ?? "";
    const again = await service.request("GET", pathname, { principal, headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("is in the day of the location's time zone on which the shift began", async () => {
    const principal = principalWithScopes("accounting:write");
    const times = { startedAt: "2026-05-28T22:30:00.000Z", finalizedAt: "2026-05-29T23:00:00.000Z" };
    const [till = ""] = await pushTills(principal, times);
    const { id } = await runExport(principal, [exportItem(till, await createConfig(principal))]);
    const file = await service.request("GET", `/v1/accounting/exports/${id}/files/1`, { principal });
    const [, line = ""] = (await file.text()).split("\r\n");
    expect(line.split("\t")).toMatchObject({ 3: "20260529", 9: "20260529", 15: "20260530" });
  });

  it("has a file for each config and provider, with the configs as they were", async () => {
    const principal = principalWithScopes("accounting:write");
    const [one, other] = [await createConfig(principal, { journalCode: "ONE" }), await createConfig(principal)];
    const [till = ""] = await pushTills(principal, {});
    const { id } = await startExport(principal, [
      exportItem(till, one),
      exportItem(till, other),
      exportItem(till, one, { accountingProvider: "ISACOMPTA" }),
    ]);
    await service.request("PUT", `/v1/accounting/configs/${one}`, { principal, body: { journalCode: "LATER" } });
    await service.request("DELETE", `/v1/accounting/configs/${other}`, { principal });
    const reply = await waitUntilFinished(principal, id);
    expect(reply.tillsIds).toEqual([till]);
    expect(reply.files.map((file) => [file.accountingConfigId, file.accountingProvider])).toEqual([
      [one, "FULLL"],
      [other, "FULLL"],
      [one, "ISACOMPTA"],
    ]);
    const lines = await Promise.all(
      reply.files.map(async ({ number }) => {
        const file = await service.request("GET", `/v1/accounting/exports/${id}/files/${number}`, { principal });
        return (await file.text()).split("\r\n")[1];
      }),
    );
    expect(lines.map((line) => line?.slice(0, 4))).toEqual(["ONE\t", "CA\tC", "ONE|"]);
  });

  it("names the gap of a till that does not balance, and exports the others", async () => {
    const principal = principalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [well = "", short = ""] = await pushTills(principal, {}, { paid: 1000 });
    const reply = await runExport(principal, [exportItem(well, config), exportItem(short, config)]);
    expect(reply.state).toBe("failed");
    expect(reply.tills.map(({ state, fileNumber }) => [state, fileNumber])).toEqual([
      ["done", 1],
      ["failed", null],
    ]);
    expect(reply.tills[1]?.failure).toMatchObject({ code: "unbalanced", gaps: [{ code: "payments", amount: 100 }] });
    expect(reply.files).toMatchObject([{ tills: 1, entries: 1 }]);
  });

  it("has no file when none of its tills can be exported", async () => {
    const principal = principalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [training = "", older = ""] = await pushTills(principal, { isTraining: true }, {});
    await service.db.sql`update reports set accounting_facts = null where till_id = ${older}`;
    const reply = await runExport(principal, [exportItem(training, config), exportItem(older, config)]);
    expect(reply).toMatchObject({ state: "failed", files: [] });
    expect(reply.tills.map(({ failure }) => failure?.code)).toEqual(["no_report", "outdated_report"]);
    expect(
      await service.requestProblem("GET", `/v1/accounting/exports/${reply.id}/files/1`, { principal }),
    ).toMatchObject({
      code: "accounting_file_not_found",
    });
  });

  it("exports the others when a till has a fault that nobody has foreseen", async () => {
    const principal = principalWithScopes("accounting:write");
    const config = await createConfig(principal);
    const [well = "", broken = ""] = await pushTills(principal, {}, {});
    await service.db.sql`update reports set accounting_facts = '{' where till_id = ${broken}`;
    const reply = await runExport(principal, [exportItem(broken, config), exportItem(well, config)]);
    expect(reply.tills.map(({ failure }) => failure?.code)).toEqual(["internal_error", undefined]);
  });

  it("is asked for once under an Idempotency-Key", async () => {
    const principal = principalWithScopes("accounting:write");
    const [till = ""] = await pushTills(principal, {});
    const body = [exportItem(till, await createConfig(principal))];
    const asking = { principal, body, headers: { "idempotency-key": randomUUID() } };
    const replies: StartedAccountingExport[] = [];
    for (const _ of [1, 2]) {
      const answer = await service.request("POST", "/v1/accounting/exports", asking);
      replies.push(StartedAccountingExport.parse(await answer.json()));
    }
    expect(replies[1]).toEqual(replies[0]);
    await waitUntilFinished(principal, replies[0]?.id ?? "");
    const [row] = await service.db.sql`
      select count(*) as n from accounting_exports where location_id = ${principal.location.id}`;
    expect(row?.n).toBe(1);
  });
});

describe("a faulty request", () => {
  it("is told of every fault of its form at once", async () => {
    const principal = principalWithScopes("accounting:write");
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

  it("is told of every till and config that the location does not have, and of what is there twice", async () => {
    const [principal, stranger] = [principalWithScopes("accounting:write"), principalWithScopes("accounting:write")];
    const [[till = ""], config] = [await pushTills(principal, {}), await createConfig(principal)];
    const [[strange = ""], strangeConfig] = [await pushTills(stranger, {}), await createConfig(stranger)];
    const { code, errors = [] } = await requestExportProblem(principal, [
      exportItem(till, config),
      exportItem(strange, strangeConfig),
      exportItem(randomUUID(), config),
      exportItem(till.toUpperCase(), config),
    ]);
    expect(code).toBe("invalid_request");
    expect(errors.map((fault) => `${fault.path} ${fault.code}`)).toEqual([
      "[1].tillId unknown_till",
      "[1].accountingConfigId unknown_config",
      "[2].tillId unknown_till",
      "[3] duplicate",
    ]);
    const rows = await service.db.sql`select 1 from accounting_exports where location_id = ${principal.location.id}`;
    expect(rows).toHaveLength(0);
  });

  it("is refused when it names another location, and told where", async () => {
    const principal = principalWithScopes("accounting:write");
    const [[till = ""], config] = [await pushTills(principal, {}), await createConfig(principal)];
    const elsewhere = exportItem(till, config, { locationId: randomUUID() });
    const problem = await requestExportProblem(principal, [exportItem(till, config), elsewhere]);
    expect(problem).toMatchObject({ code: "location_forbidden", detail: expect.stringContaining("[1].locationId") });
    const nowhere = { ...principal, location: null, scopes: ["accounting:write", "locations:any"] };
    expect(await requestExportProblem(nowhere, [exportItem(till, config)])).toMatchObject({
      errors: [{ in: "body", path: "[0].locationId", code: "required" }],
    });
  });
});

describe("an export of several locations", () => {
  it("is for keys that may act for any, and seen by them only", async () => {
    const shops = [principalWithScopes("accounting:write"), principalWithScopes("accounting:write")];
    const operator = principalWithScopes("accounting:write", "locations:any");
    const items = await Promise.all(
      shops.map(async (shop) => {
        const [till = ""] = await pushTills(shop, {});
        return exportItem(till, await createConfig(shop), { locationId: shop.location.id.toUpperCase() });
      }),
    );
    const reply = await runExport(operator, items);
    expect(reply.state).toBe("done");
    expect(reply.files.map(({ locationId }) => locationId)).toEqual(shops.map(({ location }) => location.id));
    for (const path of [`/v1/accounting/exports/${reply.id}`, `/v1/accounting/exports/${reply.id}/files/1`]) {
      expect((await service.request("GET", path, { principal: operator })).status).toBe(200);
      for (const shop of shops) {
        expect(await service.requestProblem("GET", path, { principal: shop })).toMatchObject({
          code: "accounting_export_not_found",
        });
      }
    }
    const ofOne = await runExport(operator, items.slice(0, 1));
    const [principal = operator] = shops;
    expect((await service.request("GET", `/v1/accounting/exports/${ofOne.id}`, { principal })).status).toBe(200);
  });
});
