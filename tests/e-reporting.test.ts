import { createHash, randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AccountingExport } from "@pragma/contracts/accounting-export";
import type { EReport } from "@pragma/contracts/e-report";
import type { EReportTransmission } from "@pragma/contracts/e-report-transmission";
import { buildCompanyNumbers } from "@pragma/contracts/siren";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { XmlDocument, XsdValidator } from "libxml2-wasm";
import { xmlRegisterFsInputProviders } from "libxml2-wasm/lib/nodejs.mjs";
import { beforeAll, describe, expect, it } from "vitest";
import { type ParsedFecLine, parseAndValidateFecFile } from "./accounting/read-fec.ts";
import { convertGeneratedTillToV1 } from "./harness/convert-till-to-v1.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const days = ["2026-05-01", "2026-05-02", "2026-05-03", "2026-05-04", "2026-05-05"];
const { siren, siretCode } = buildCompanyNumbers(randomInt(50_000, 90_000));
/** The folder with the schemas of the administration's external specifications, which is beside the project if at all. */
const schemaFile = fileURLToPath(new URL("../../shared/e-reporting/xsd/ereporting.xsd", import.meta.url));

let location: TestLocation;
let tillIds: string[];
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  location = await createTestLocation(product, {
    scopes: ["tills:write", "reports:read", "accounting:write", "webhooks:write"],
  });
  tillIds = [];
  for (const day of days) {
    const till = { ...generateTill({ seed: "e-reporting", orders: 40, day, tillId: randomUUID() }), siretCode };
    tillIds.push(till.id);
    expect((await location.pushTillWithRetries(till)).status).toBe(201);
  }
  await location.waitForReports(days.length);
  // All sales are services, so that the payments of all orders are reported.
  const body = {
    ...{ companyName: "Chez Marcel", vatRegime: "monthly", platform: { number: "0123", name: "Plateforme" } },
    categories: [{ category: "TPS1" }],
  };
  expect((await location.request("PUT", `/v1/e-reporting/declarants/${siren}`, { body })).status).toBe(201);
}, 300_000);

const readReport = (kind: string) => location.getJson<EReport>(`/v1/e-reports/${siren}/${kind}/2026-05-01`);

async function exportJournal(): Promise<ParsedFecLine[]> {
  const { id: accountingConfigId } = await location.create("/v1/accounting/configs", {});
  const items = tillIds.map((tillId) => ({ tillId, accountingConfigId, accountingProvider: "FULLL" }));
  const { id } = await location.create("/v1/accounting/exports", items);
  const path = `/v1/accounting/exports/${id}`;
  await eventually("the export", async () => (await location.getJson<AccountingExport>(path)).state === "done", {
    timeoutSeconds: 60,
  });
  const { tills, files } = AccountingExport.parse(await location.getJson(path));
  expect(new Set(tills.map(({ state }) => state))).toEqual(new Set(["done"]));
  const response = await location.request("GET", new URL(files[0]?.fileUrl ?? "").pathname);
  return parseAndValidateFecFile(new Uint8Array(await response.arrayBuffer()), {
    separator: "\t",
    charset: "iso-8859-15",
  });
}

/** Returns the sums of lines by day and account, as `20260501 70610`, credits minus debits. */
function addUpCredits(lines: readonly ParsedFecLine[], prefixes: readonly string[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { account, day, credit, debit } of lines) {
    if (!prefixes.some((prefix) => account.startsWith(prefix))) continue;
    const key = `${day} ${account}`;
    sums.set(key, (sums.get(key) ?? 0) + credit - debit);
  }
  return sums;
}

const toAccountDigits = (taxRate: number) => String(taxRate / 100).replace(".", "");

describe("e-reports", () => {
  it("have the sales, the VAT and the received amounts of the accounting exports of the same days", async () => {
    const lines = await exportJournal();
    const { transactions } = await readReport("transactions");
    const sales = new Map<string, number>();
    for (const { day, taxSubtotals } of transactions)
      for (const { taxRate, taxableAmount, taxTotal } of taxSubtotals) {
        const digits = toAccountDigits(taxRate);
        const date = day.replaceAll("-", "");
        sales.set(`${date} 706${digits}`, taxableAmount);
        if (taxTotal !== 0) sales.set(`${date} 44571${digits}`, taxTotal);
      }
    expect(sales.size).toBeGreaterThan(2 * days.length);
    expect(sales).toEqual(addUpCredits(lines, ["706", "44571"]));
    const { payments, notReported } = await readReport("payments");
    // The other entries are movements of the drawer and its difference.
    const salesEntries = new Set(lines.filter(({ account }) => account.startsWith("706")).map(({ entry }) => entry));
    const isPaid = ({ entry, account, text }: ParsedFecLine) =>
      salesEntries.has(entry) &&
      !/^(?:706|44571)/.test(account) &&
      // Tips count as what the restaurant owes its staff, also those on account.
      (!account.startsWith("411") || text.includes("Pourboire")) &&
      // Refunds that were not paid out.
      !text.includes("Remboursements dus");
    const received = lines.filter(isPaid).reduce((sum, { debit, credit }) => sum + debit - credit, 0);
    const reported = payments.flatMap(({ subtotals }) => subtotals).reduce((sum, { amount }) => sum + amount, 0);
    expect(reported + (notReported?.otherSales ?? 0) + (notReported?.withoutVatRate ?? 0)).toBe(received);
  });

  it("are the same for tills in the V1 format", async () => {
    const product = await getSharedPragmaUnderTest();
    const first = randomInt(40_000, 49_999);
    const businesses = [buildCompanyNumbers(first), buildCompanyNumbers(first + 1)];
    // V1 tills have neither tips that are part of a payment nor orders in training mode, and these ones no movements.
    const options = { seed: "formats", orders: 40, mix: { tip: 0, trainingOrder: 0 } };
    const tills = days.map((day) => generateTill({ ...options, day, tillId: randomUUID() }));
    const reports = await Promise.all(
      businesses.map(async ({ siren, siretCode }, index) => {
        const testLocation = await createTestLocation(product, { scopes: ["tills:write", "accounting:write"] });
        for (const till of tills) {
          const pushed = { ...till, siretCode, financialMovementList: [], ...(index === 1 && { id: randomUUID() }) };
          if (index === 0) expect((await testLocation.pushTillWithRetries(pushed)).status).toBe(201);
          else {
            const { application, legacyId } = testLocation;
            await testLocation.create("/v1/tills", convertGeneratedTillToV1(pushed, { application, legacyId }));
          }
        }
        await testLocation.waitForTillStates();
        // The V1 format has no service type.
        const settings = { companyName: "Chez Marcel", vatRegime: "quarterly", categories: [{ category: "TPS1" }] };
        const body = { ...settings, platform: { number: "0123", name: "Plateforme" } };
        await testLocation.request("PUT", `/v1/e-reporting/declarants/${siren}`, { body });
        const read = (kind: string) => testLocation.getJson<EReport>(`/v1/e-reports/${siren}/${kind}/2026-05-01`);
        const [{ transactions }, { payments, notReported }] = [await read("transactions"), await read("payments")];
        const blocks = [...transactions, ...payments].map((block) => ({ ...block, tills: block.tills.length }));
        return { blocks, notReported };
      }),
    );
    expect(reports[0]?.blocks.length).toBe(2 * days.length);
    expect(reports[1]).toEqual(reports[0]);
  });

  it("have the VAT of the metrics of the same days", async () => {
    const { transactions } = await readReport("transactions");
    const { data } = await location.getJson<{
      data: { dimensions: { day: string; taxRate: number }; values: { tax: number } }[];
    }>(`/v1/metrics?measures=tax&dimensions=day,taxRate&since=${days[0]}&until=${days.at(-1)}&limit=1000`);
    const byDayAndRate = data.map(({ dimensions: { day, taxRate }, values: { tax } }) => [`${day} ${taxRate}`, tax]);
    const reported = transactions.flatMap(({ day, taxSubtotals }) =>
      taxSubtotals.map(({ taxRate, taxTotal }) => [`${day} ${taxRate}`, taxTotal]),
    );
    expect(reported.length).toBeGreaterThan(days.length);
    expect(Object.fromEntries(reported)).toEqual(Object.fromEntries(byDayAndRate));
  });

  it("are in the answers of assistants about their days", async () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const { url } = await getSharedPragmaUnderTest();
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${location.key}` } },
      }),
    );
    const [since] = days;
    const { structuredContent } = await client.callTool({ name: "days", arguments: { since, until: since } });
    await client.close();
    const { notes } = structuredContent as { notes: string[] };
    const reports = notes.filter((note) => note.startsWith("French e-report"));
    expect(reports).toEqual([
      expect.stringMatching(/^French e-report of transactions, 2026-05-01 to 2026-05-10: \w+, due on 2026-05-20\.$/),
      expect.stringMatching(/^French e-report of payments, 2026-05-01 to 2026-05-31: \w+, due on 2026-06-10\.$/),
    ]);
  });

  describe.skipIf(!existsSync(schemaFile))("as files", () => {
    let validator: XsdValidator;
    beforeAll(() => {
      xmlRegisterFsInputProviders();
      validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(schemaFile), { url: schemaFile }));
    });

    it.each(["transactions", "payments"])("of %s comply with the schema of the administration", async (kind) => {
      const path = `/v1/e-reports/${siren}/${kind}/2026-05-01`;
      const taken = await location.create<EReportTransmission>(`${path}/transmissions`, {
        acceptsIncompleteDays: true,
      });
      const response = await location.request("GET", new URL(taken.href).pathname);
      expect(response.headers.get("content-type")).toBe("application/xml; charset=utf-8");
      const file = Buffer.from(await response.arrayBuffer());
      expect(createHash("sha256").update(file).digest("hex")).toBe(taken.sha256);
      const document = XmlDocument.fromBuffer(file);
      expect(() => validator.validate(document)).not.toThrow();
      const withoutPeriod = file.toString().replace(/<StartDate>\d+<\/StartDate>/, "");
      expect(() => validator.validate(XmlDocument.fromString(withoutPeriod))).toThrow("EndDate");
    });
  });

  it("announce by webhook that they have changed", async () => {
    const received: { meta: { event: string }; data: object }[] = [];
    const receiver = createServer(async (request, response) => {
      received.push(JSON.parse((await request.toArray()).join("")));
      response.end();
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { id: recipientId } = await location.create("/v1/recipients", { name: "E-reports" });
    const endpointUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const events = ["e_report.ready", "e_report.changed"];
    await location.create("/v1/webhooks", { recipientId, endpointUrl, events });
    const [day = ""] = days;
    const till = { ...generateTill({ seed: "late", orders: 3, day, tillId: randomUUID() }), siretCode };
    expect((await location.pushTillWithRetries(till)).status).toBe(201);
    const described = () => received.map(({ meta, data }) => ({ event: meta.event, ...data }));
    await eventually("the message", () => received.some(({ data }) => "kind" in data && data.kind === "transactions"), {
      timeoutSeconds: 150,
    });
    receiver.close();
    expect(described()).toContainEqual({
      ...{ event: expect.stringMatching(/^e_report\.(?:ready|changed)$/), locationId: location.locationId, siren },
      ...{ kind: "transactions", period: "2026-05-01", until: "2026-05-10", dueOn: "2026-05-20" },
    });
  }, 180_000);
});
