import { randomUUID } from "node:crypto";
import { AccountingExport } from "@pragma/contracts/accounting-export";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ParsedFecLine, parseAndValidateFecFile } from "./accounting/read-fec.ts";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const days = 12;

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;
let sql: postgres.Sql;
let reports: ReportV2[];
let configId: string;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({ EXPORT_CLAIM_SECONDS: "6", DATABASE_POOL: "20" });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "till-ingest", "reporting"] });
  sql = postgres(environment.variables.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  testLocation = await createTestLocation(product, { scopes: ["tills:write", "reports:read", "accounting:write"] });
  for (let day = 1; day <= days; day += 1) {
    const till = generateTill({ seed: "accounting", orders: 20, day: `2026-05-${String(day).padStart(2, "0")}` });
    expect((await testLocation.request("POST", "/v2/tills", { body: { ...till, id: randomUUID() } })).status).toBe(201);
  }
  const list = await testLocation.waitForReports(days);
  reports = await Promise.all(list.map(({ id }) => testLocation.getJson<ReportV2>(`/v2/reports/${id}`)));
  configId = (await testLocation.create("/v1/accounting/configs", {})).id;
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await environment?.remove();
});

async function startExport(): Promise<string> {
  const items = reports.map(({ tillId }) => ({ tillId, accountingConfigId: configId, accountingProvider: "FULLL" }));
  return (await testLocation.create("/v1/accounting/exports", items)).id;
}

const readExportStatus = async (id: string) =>
  (await testLocation.getJson<AccountingExport>(`/v1/accounting/exports/${id}`)).state;

/** Waits until an export is done, and returns the parsed lines of its file. */
async function readExportedLines(id: string): Promise<ParsedFecLine[]> {
  await eventually("the export to be done", async () => (await readExportStatus(id)) === "done", {
    timeoutSeconds: 60,
  });
  const { tills, files } = AccountingExport.parse(await testLocation.getJson(`/v1/accounting/exports/${id}`));
  expect(tills.map(({ state }) => state)).toEqual(Array(days).fill("done"));
  const [file] = files;
  expect(file).toMatchObject({ tills: days, name: expect.stringMatching(/^(\d{9})?FEC20260512\.txt$/) });
  const response = await testLocation.request("GET", new URL(file?.fileUrl ?? "").pathname);
  return parseAndValidateFecFile(new Uint8Array(await response.arrayBuffer()), {
    separator: "\t",
    charset: "iso-8859-15",
  });
}

/** Blocks all running exports until `work` ends. The argument of `work` is a function that counts these exports. */
async function whileExportsAreBlocked(
  work: (countRunningExports: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const schema = buildServiceSchemaName(environment.namespace, "reporting");
  await sql.begin(async (tx) => {
    await tx`lock table ${tx(schema)}.reports in access exclusive mode`;
    await work(async () => {
      const running = await tx`select 1 from ${tx(schema)}.exports where state = 'running'`;
      return running.length;
    });
  });
}

describe("an accounting export of a location's tills", () => {
  it("contains the VAT and the sales of their reports", async () => {
    const lines = await readExportedLines(await startExport());
    const credit = (account: string) =>
      lines.filter((line) => line.account.startsWith(account)).reduce((sum, line) => sum + line.credit - line.debit, 0);
    const taxes = reports.flatMap(({ reportTaxes }) => reportTaxes);
    expect(credit("44571")).toBe(taxes.reduce((sum, { taxAmount }) => sum + taxAmount, 0));
    expect(credit("706")).toBe(taxes.reduce((sum, { taxableAmount }) => sum + taxableAmount, 0));
  });

  it("has the same lines when the reporting process is killed while it runs", async () => {
    const undisturbed = await readExportedLines(await startExport());
    const ids: string[] = [];
    await whileExportsAreBlocked(async (countRunningExports) => {
      for (let count = 0; count < 4; count += 1) ids.push(await startExport());
      await eventually("two exports to run", async () => (await countRunningExports()) === 2);
      await product.process("reporting").kill();
    });
    await product.process("reporting").start();
    for (const id of ids) expect(await readExportedLines(id)).toEqual(undisturbed);
  });
});
