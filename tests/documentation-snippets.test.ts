import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { eventually } from "@pragma/runtime/testing/eventually";
import { documentationHomePageDay, generateExampleTill } from "@pragma/simulator/demo-location";
import { generateTill } from "@pragma/simulator/generate-till";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAndValidateFecFile } from "./accounting/read-fec.ts";
import { documentationEdgeCaseTill } from "./documentation/edge-case-till.ts";
import {
  installedSnippetLanguages,
  type RunningSnippet,
  runSnippet,
  type SnippetLanguage,
  snippetRuntimes,
  snippetsFolder,
  startSnippet,
  withTemporaryFolder,
} from "./documentation/run-snippet.ts";
import {
  changedStockOrders,
  expectedStockQuantities,
  finalStockOrders,
  openedStockOrders,
  reopenedStockOrders,
} from "./documentation/stock-scenario.ts";
import type { PragmaUnderTestAccess } from "./harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "./harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

/*
 * These tests run the programs of the guides as a reader would, and compare their results with sums over other data of
 * the API.
 */

let product: PragmaUnderTestAccess;
let location: TestLocation;

/** The day of the home page has one report. The day before has two, because the restaurant closed two shifts. */
const twoShiftDay = "2026-05-29";
/** On the day of the edge cases, an order was canceled after it was paid. */
const edgeCaseDay = "2026-05-31";
const tills: TillV2Input[] = [
  { ...documentationEdgeCaseTill, id: randomUUID() },
  { ...generateExampleTill(documentationHomePageDay), id: randomUUID() },
  { ...generateTill({ seed: "lunch", orders: 40, day: twoShiftDay }), id: randomUUID() },
  { ...generateTill({ seed: "dinner", orders: 40, day: twoShiftDay }), id: randomUUID() },
];
const month = { since: "2026-05-01", until: "2026-05-31" };

beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  location = await createTestLocation(product, {
    scopes: ["reports:read", "orders:read", "orders:write", "tills:write", "accounting:write"],
  });
  for (const till of tills) await location.pushTillWithRetries(till);
  await location.waitForReports(tills.length);
}, 300_000);

it("the TypeScript programs of the guides compile in strict mode", async () => {
  const compiler = fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url));
  const guides = [
    "totals-by-payment-method",
    "month-of-orders",
    "stock-from-live-orders",
    "accounting-exports",
    "catalog-sync",
    "push-till",
  ];
  const files = guides.flatMap((guide) =>
    readdirSync(join(snippetsFolder, guide))
      .filter((name) => name.endsWith(".mts"))
      .map((name) => join(snippetsFolder, guide, name)),
  );
  const options = "--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --types node";
  const modules = "--target es2024 --module nodenext --customConditions source --allowImportingTsExtensions";
  const run = promisify(execFile)(compiler, [...options.split(" "), ...modules.split(" "), ...files]);
  await expect(run).resolves.toMatchObject({ stdout: "" });
});

it("the amounts in the guide on payments are those of the example day", () => {
  const { reply } = JSON.parse(readFileSync(join(snippetsFolder, "..", "examples", "report.json"), "utf8"));
  const report: ReportV2 = reply.body;
  const page = readFileSync(join(snippetsFolder, "..", "docs", "totals-by-payment-method.mdx"), "utf8");
  const sum = <Row>(rows: Row[], amountOf: (row: Row) => number) =>
    rows.reduce((total, row) => total + amountOf(row), 0);
  const { reportRecordedPayments: recorded, reportPayments: declared, reportEntries: entries, totalSales } = report;
  const payments = recorded.filter(({ paymentType }) => paymentType === "payment" || paymentType === "customerAccount");
  const paid = sum(payments, ({ totalAmount }) => totalAmount);
  const tips = sum(recorded, (row) => (row.paymentType === "tip" ? row.totalAmount : row.tipsAmount));
  const cash = sum(payments, ({ paymentMode, totalAmount }) => (paymentMode === "cash" ? totalAmount : 0));
  const expectedCash = report.initialCashBalance + cash + sum(entries, ({ entryAmount }) => entryAmount);
  expect(sum(declared, ({ paymentAmount }) => paymentAmount)).toBe(paid);
  expect(expectedCash).toBe(report.finalCashBalance);

  const amounts = [
    totalSales,
    paid,
    paid - totalSales,
    tips,
    paid + tips,
    report.initialCashBalance,
    cash,
    // No change in cash was given on payments by other modes.
    0,
    expectedCash,
  ];
  const exampleOfChange = [1650, 2000, 350];
  const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
  const expected = [...amounts, ...entries.map(({ entryAmount }) => entryAmount), ...exampleOfChange].map((amount) =>
    euros.format(amount / 100),
  );
  expect(new Set(page.match(/-?€[\d,]+\.\d\d/g))).toEqual(new Set(expected));
});

describe.each(installedSnippetLanguages)("the programs in $label", (language) => {
  it("compute the totals of a day by payment method", async () => {
    for (const day of [documentationHomePageDay, twoShiftDay, edgeCaseDay]) {
      const output = await runProgram(language, "totals-by-payment-method/totals", [day]);
      const lines = output.trimEnd().split("\n").slice(1);
      const rows = lines.slice(0, -2).map(parseTotalsLine);
      expect(rows.map(({ name, recorded, tips }) => ({ name, recorded, tips }))).toEqual(
        expect.arrayContaining(await sumPaymentsOfOrders(day)),
      );
      expect(rows.reduce((sum, { declared }) => sum + declared, 0)).toBe(sumDeclaredPayments(day));
      expect(parseCents(lines.at(-1) ?? "")).toBe(await sumSalesOfOrders(day));
      if (day === documentationHomePageDay) {
        const example = join(snippetsFolder, "..", "examples", "totals-by-payment-method.json");
        await expect(`${JSON.stringify({ text: output }, null, 2)}\n`).toMatchFileSnapshot(example);
      }
    }
  });

  it("list the orders that explain the difference between sales and payments", async () => {
    for (const day of [documentationHomePageDay, edgeCaseDay]) {
      const output = await runProgram(language, "totals-by-payment-method/differences", [day]);
      const lines = output.trimEnd().split("\n");
      for (const line of lines) expect(line).toMatch(/^[\da-f-]{36}: sale -?\d+, paid -?\d+, difference -?\d+$/);
      const payments = (await sumPaymentsOfOrders(day)).reduce((sum, { recorded }) => sum + recorded, 0);
      const difference = lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
      expect(difference).toBe(payments - (await sumSalesOfOrders(day)));
      if (day === documentationHomePageDay) {
        const example = join(snippetsFolder, "..", "examples", "totals-differences.json");
        await expect(`${JSON.stringify({ text: output }, null, 2)}\n`).toMatchFileSnapshot(example);
      }
    }
  });

  it("stop if the API key is missing", async () => {
    const programs = ["month-of-orders/orders", "stock-from-live-orders/stock", "accounting-exports/export"];
    for (const program of [...programs, "catalog-sync/sync", "keep-a-copy/follow"]) {
      const args = [month.since, month.until, "orders.csv"];
      const run = withTemporaryFolder((folder) =>
        runSnippet(language, { program, url: product.url, key: "", args, folder }),
      );
      await expect(run).rejects.toThrow(language.label === "Python" ? "Set PRAGMA_API_KEY" : /key_missing|401/);
    }
  });

  it("stop if the date is missing", async () => {
    for (const name of ["totals", "differences"]) {
      const program = `totals-by-payment-method/${name}`;
      await expect(runProgram(language, program, [])).rejects.toThrow("Pass the date as the argument");
    }
  });

  it("export a month of tills to accounting software", async () => {
    const { id: configId } = await location.create("/v1/accounting/configs/", {});
    await withTemporaryFolder(async (folder) => {
      const args = [configId, month.since, month.until];
      const program = "accounting-exports/export";
      const output = await runSnippet(language, { program, url: product.url, key: location.key, args, folder });
      const [fileName = ""] = readdirSync(folder);
      expect(output).toBe(`${fileName}: ${tills.length} tills\n`);
      const lines = parseAndValidateFecFile(readFileSync(join(folder, fileName)), {
        separator: "\t",
        charset: "iso-8859-15",
      });
      const credit = (account: string) =>
        lines
          .filter((line) => line.account.startsWith(account))
          .reduce((sum, line) => sum + line.credit - line.debit, 0);
      const rows = await readSoldRows();
      expect(credit("706")).toBe(rows.reduce((sum, { tax }) => sum + tax.taxableAmount, 0));
      expect(credit("44571")).toBe(rows.reduce((sum, { tax }) => sum + tax.taxAmount, 0));
    });
  });

  it("name the tills that cannot be exported", async () => {
    const { location: other, till } = await inconsistentLocation();
    const { id: configId } = await other.create("/v1/accounting/configs/", {});
    await withTemporaryFolder(async (folder) => {
      const args = [configId, month.since, month.until];
      const program = "accounting-exports/export";
      const snippet = startSnippet(language, { program, url: product.url, key: other.key, args, folder });
      expect(await snippet.exitCode).toBe(1);
      expect(snippet.errorOutput()).toContain(`Till ${till.id} was not exported (unbalanced).`);
      expect(snippet.errorOutput()).toContain(
        "Orders total 17.50 EUR, but their products cost 16.50 EUR: 1.00 EUR is missing.",
      );
      expect(snippet.errorOutput()).toMatch(/Report \d+ of 20\d\d-\d\d-\d\d: /);
      expect(snippet.errorOutput()).toMatch(/ {2}Order [0-9a-f-]{36}: 100\n/);
    });
  });
});

describe.each(snippetRuntimes)("the program for a month of orders in $label", (language) => {
  it("leaves no file if the orders cannot be read", async () => {
    await withTemporaryFolder(async (folder) => {
      const args = [month.since, month.until, "orders.csv"];
      const program = "month-of-orders/orders";
      const snippet = startSnippet(language, { program, url: product.url, key: "not-a-key", args, folder });
      expect(await snippet.exitCode).not.toBe(0);
      expect(readdirSync(folder)).not.toContain("orders.csv");
    });
  });

  it("stops at once if the API asks it to wait for hours", async () => {
    const proxy = await startExhaustedServer();
    await withTemporaryFolder(async (folder) => {
      const args = [month.since, month.until, "orders.csv"];
      const program = "month-of-orders/orders";
      const snippet = startSnippet(language, { program, url: proxy.url, key: location.key, args, folder });
      expect(await snippet.exitCode).not.toBe(0);
      expect(snippet.errorOutput()).toContain("429");
    }).finally(proxy.close);
    expect(proxy.requestCount()).toBe(1);
  });

  it("writes each order of the month once, although requests fail", async () => {
    const proxy = await startFailingProxy(product.url);
    await withTemporaryFolder(async (folder) => {
      const args = [month.since, month.until, "orders.csv"];
      const program = "month-of-orders/orders";
      const output = await runSnippet(language, { program, url: proxy.url, key: location.key, args, folder });
      expect(parseCents(output)).toBe(await sumSalesOfReports());
      const example = join(snippetsFolder, "..", "examples", "month-output.json");
      await expect(`${JSON.stringify({ text: output }, null, 2)}\n`).toMatchFileSnapshot(example);
      const [header, ...lines] = readFileSync(join(folder, "orders.csv"), "utf8").trimEnd().split("\n");
      expect(header).toBe("id,openedAt,total,isCanceled,isTransferred,payments");
      const orders = tills.flatMap(({ orderList }) => orderList).filter(({ isTraining }) => !isTraining);
      expect(lines.toSorted()).toEqual(
        orders
          .map(({ id, openedAt, total, isCanceled, isTransferred, paymentRowList }) => {
            const payments = paymentRowList
              .filter(
                ({ status, paymentType }) => status === "validated" && /^(payment|customerAccount)$/.test(paymentType),
              )
              .map(({ paymentMode, amount }) => `${paymentMode}:${amount}`);
            return [id, openedAt, total, isCanceled, isTransferred, payments.join(";")].join(",");
          })
          .toSorted(),
      );
    }).finally(proxy.close);
    expect(proxy.failedRequests()).toBe(2);
  });
});

/** Returns a new location with one till, in which the total of an order differs from the prices of its products. */
async function inconsistentLocation() {
  const other = await createTestLocation(product, { scopes: ["reports:read", "tills:write", "accounting:write"] });
  const [, canceledRow] = documentationEdgeCaseTill.orderList;
  if (!canceledRow) throw new Error("The till has no second order.");
  const till = {
    ...documentationEdgeCaseTill,
    id: randomUUID(),
    orderList: [{ ...canceledRow, total: canceledRow.total + 100, leftToPay: 100 }],
  };
  await other.pushTillWithRetries(till);
  await other.waitForReports(1);
  return { location: other, till };
}

async function runProgram(language: SnippetLanguage, program: string, args: string[]): Promise<string> {
  const { url } = product;
  return withTemporaryFolder((folder) => runSnippet(language, { program, url, key: location.key, args, folder }));
}

function parseCents(text: string): number {
  const [, sign, units = "", cents = ""] = /(-?)€([\d,]+)\.(\d\d)/.exec(text) ?? [];
  return Number(`${sign}${units.replaceAll(",", "")}${cents}`);
}

function parseTotalsLine(line: string) {
  const [, name = "", recorded = "", tips = "", declared = ""] = /^(.*\S) +(\S+) +(\S+) +(\S+)$/.exec(line) ?? [];
  return { name, recorded: parseCents(recorded), tips: parseCents(tips), declared: parseCents(declared) };
}

interface OrderOfApi {
  id: string;
  total: number;
  isCanceled: boolean;
  isTransferred: boolean;
  items: SoldRow[];
  menus: { items: SoldRow[] }[];
}

interface SoldRow {
  isCanceled: boolean;
  isTransferred: boolean;
  isLoss: boolean;
  tax: { taxableAmount: number; taxAmount: number };
  itemCatalogId: string;
  quantity: number;
  weight: number | null;
  stockImpactIndicator: boolean;
}

async function readOrders(query: string, of = location): Promise<OrderOfApi[]> {
  const orders: OrderOfApi[] = [];
  for (let token: string | null = ""; token !== null; ) {
    const path = `/v1/orders/?${query}&size=100${token && `&pageToken=${token}`}`;
    const page: { data: OrderOfApi[]; nextPageToken: string | null } = await of.getJson(path);
    orders.push(...page.data);
    token = page.nextPageToken;
  }
  return orders;
}

const isSale = ({ isCanceled, isTransferred }: { isCanceled: boolean; isTransferred: boolean }) =>
  !isCanceled && !isTransferred;

const readOrdersOfDay = async (day: string) => {
  const { data: reports } = await location.getJson<{ data: { id: string }[] }>(
    `/v2/reports/?since=${day}&until=${day}`,
  );
  return (await Promise.all(reports.map(({ id }) => readOrders(`reportId=${id}`)))).flat();
};

async function sumSalesOfOrders(day: string): Promise<number> {
  return (await readOrdersOfDay(day)).filter(isSale).reduce((sum, { total }) => sum + total, 0);
}

async function sumSalesOfReports(): Promise<number> {
  const query = `since=${month.since}&until=${month.until}&size=100`;
  const { data } = await location.getJson<{ data: { totalSales: number }[] }>(`/v2/reports/?${query}`);
  return data.reduce((sum, { totalSales }) => sum + totalSales, 0);
}

/** Returns the recorded payments and tips by payment method, computed from the rows of the day's V2 orders. */
async function sumPaymentsOfOrders(day: string) {
  const totals = new Map<string, { name: string; recorded: number; tips: number }>();
  for (const { id } of await readOrdersOfDay(day)) {
    const { paymentRowList } = await location.getJson<TillV2Input["orderList"][number]>(`/v2/orders/${id}`);
    for (const { name, paymentMode, paymentType, status, amount, tipAmount } of paymentRowList) {
      if (status !== "validated") continue;
      const key = `${name} (${paymentMode})`;
      const total = totals.get(key) ?? { name: key, recorded: 0, tips: 0 };
      totals.set(key, total);
      if (["payment", "customerAccount"].includes(paymentType)) total.recorded += amount;
      total.tips += paymentType === "tip" ? amount : (tipAmount ?? 0);
    }
  }
  return [...totals.values()];
}

function sumDeclaredPayments(day: string): number {
  const ofDay = tills.filter(({ startedAt }) => startedAt.startsWith(day));
  return ofDay
    .flatMap(({ declaredPaymentList }) => declaredPaymentList)
    .reduce((sum, row) => sum + row.paymentAmount, 0);
}

async function readSoldRows(): Promise<SoldRow[]> {
  const orders = await readOrders(`since=${month.since}&until=${month.until}`);
  return orders
    .filter(isSale)
    .flatMap(({ items, menus }) => [...items, ...menus.flatMap((menu) => menu.items)])
    .filter((row) => isSale(row) && !row.isLoss);
}

/** Starts a proxy that drops the first request, and responds 503 to the second. It forwards all others. */
async function startFailingProxy(target: string) {
  let count = 0;
  const server = createServer(async (request, response) => {
    count += 1;
    if (count === 1) return request.socket.destroy();
    if (count === 2) return response.writeHead(503, { "retry-after": "1" }).end();
    const { authorization = "" } = request.headers;
    const forwarded = await fetch(`${target}${request.url}`, { headers: { authorization } });
    response.writeHead(forwarded.status, { "content-type": "application/json" }).end(await forwarded.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failedRequests: () => Math.min(count, 2),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts a server that responds 429 to every request, with a `retry-after` of two hours. */
async function startExhaustedServer() {
  let requestCount = 0;
  const server = createServer((_, response) => {
    requestCount += 1;
    response.writeHead(429, { "retry-after": "7200" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestCount: () => requestCount,
    close: () => server.close(),
  };
}

describe.each(installedSnippetLanguages)("the program that keeps a copy in $label", (language) => {
  it("has the reports and orders of the lists, although it is killed between changes", { timeout: 60_000 }, () =>
    withTemporaryFolder(async (folder) => {
      const other = await createTestLocation(product);
      const file = join(folder, "copy.json");
      const readCopy = () => {
        const { reports, orders } = JSON.parse(readFileSync(file, "utf8"));
        return { reports: Object.keys(reports).sort(), orders: Object.keys(orders).sort() };
      };
      const waitForLists = async (reports: number) =>
        eventually("the copy", async () => {
          const [listed, orders] = await Promise.all([
            other.getJson<{ data: { id: string }[] }>("/v2/reports/?size=100"),
            readOrders("since=2026-05-01", other),
          ]);
          if (listed.data.length !== reports) return false;
          expect(readCopy()).toMatchObject({
            reports: listed.data.map(({ id }) => id).sort(),
            orders: orders.map(({ id }) => id).sort(),
          });
          return true;
        });
      const start = () =>
        startSnippet(language, {
          program: "keep-a-copy/follow",
          url: product.url,
          key: other.key,
          args: ["copy.json"],
          folder,
        });
      const first = start();
      try {
        const [lunch, dinner] = ["lunch", "dinner"].map((seed) => ({
          ...generateTill({ seed, orders: 5, day: twoShiftDay }),
          id: randomUUID() as string,
        })) as [TillV2Input, TillV2Input];
        await other.pushTillWithRetries(lunch);
        await other.pushTillWithRetries(dinner);
        await waitForLists(2);
        await first.kill();
        // While the program is not running, orders leave a till, and the other till is withdrawn.
        const replacements = [
          { ...lunch, orderList: lunch.orderList.slice(1) },
          { ...dinner, isTraining: true },
        ];
        for (const body of replacements)
          expect((await other.request("PUT", `/v1/tills/${body.id}`, { body })).status).toBe(200);
        const second = start();
        try {
          await waitForLists(1);
        } finally {
          await second.kill();
        }
      } finally {
        await first.kill();
      }
    }),
  );

  it.each([
    { status: 400, code: "invalid_cursor" },
    { status: 404, code: "location_not_found" },
  ])("ends and keeps its copy if the feed responds $status", ({ status, code }) =>
    withTemporaryFolder(async (folder) => {
      const copy = JSON.stringify({ after: "cursor", reports: { first: {} }, orders: {} });
      writeFileSync(join(folder, "copy.json"), copy);
      const server = createServer((_, response) => {
        const problem = { type: "about:blank", title: "Error", status, code, requestId: randomUUID() };
        response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const options = { program: "keep-a-copy/follow", url, key: "key", args: ["copy.json"], folder };
        const snippet = startSnippet(language, options);
        expect(await snippet.exitCode).toBeGreaterThan(0);
        expect(snippet.errorOutput()).toContain(code);
        expect(readFileSync(join(folder, "copy.json"), "utf8")).toBe(copy);
      } finally {
        server.close();
      }
    }),
  );
});

describe.each(installedSnippetLanguages)("the stock program in $label", (language) => {
  async function sendOrders(other: TestLocation, tillId: string, revision: string, orders: object[]) {
    const body = orders.map((data) => ({ id: (data as { id: string }).id, tillId, revisionHash: revision, data }));
    expect((await other.request("POST", "/v1/orders-live/", { body })).status).toBe(200);
  }

  it("counts each product once, through changes, interruptions and the closing of the till", { timeout: 60_000 }, () =>
    withTemporaryFolder(async (folder) => {
      // A location of its own, because its till is closed at the end: a retry would not get the orders of that till.
      const other = await createTestLocation(product, {
        scopes: ["orders:read", "orders:write", "reports:read", "tills:write"],
      });
      const tillId = randomUUID();
      const program = "stock-from-live-orders/stock";
      const start = (stateFile: string) =>
        startSnippet(language, { program, url: product.url, key: other.key, args: [stateFile], folder });
      await sendOrders(other, tillId, "1", openedStockOrders);
      const first = start("state.json");
      const isStored = (file: string, position: number) =>
        existsSync(join(folder, file)) && readFileSync(join(folder, file), "utf8").includes(`:${position}"`);
      await eventually("the first orders", () => isStored("state.json", openedStockOrders.length));
      await sendOrders(other, tillId, "2", changedStockOrders);
      await sendOrders(other, tillId, "3", reopenedStockOrders);
      const positionOfChanges = openedStockOrders.length + changedStockOrders.length + reopenedStockOrders.length;
      await eventually("the changes", () => isStored("state.json", positionOfChanges));
      const liveQuantities = { ...expectedStockQuantities, ...liveDifference() };
      // The output can arrive after the state file is written.
      await eventually("the output of the changes", () => {
        expect(sumChanges(first)).toEqual(liveQuantities);
        return true;
      });

      // The till is closed while the program is not running. The second state file has an event ID of another stream.
      await first.kill();
      const stored = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
      writeFileSync(join(folder, "reset.json"), JSON.stringify({ ...stored, lastEventId: `${randomUUID()}:1` }));
      copyFileSync(join(folder, "state.json"), join(folder, "resumed.json"));
      await other.pushTillWithRetries({ ...documentationEdgeCaseTill, id: tillId, orderList: finalStockOrders });
      await other.waitForReports(1);
      await eventually("the live list to be empty", async () => {
        const { meta } = await other.getJson<{ meta: { totalCount: number } }>("/v1/orders-live/");
        return meta.totalCount === 0;
      });
      const resumed = start("resumed.json");
      const reset = start("reset.json");
      const expected = await sumQuantitiesOfFinishedOrders(other);
      expect(expected).toEqual(expectedStockQuantities);
      for (const snippet of [resumed, reset])
        await eventually("the final stock", () => {
          expect(sumChanges(first, snippet)).toEqual(expected);
          return true;
        });
    }),
  );

  it("stops if its API key is invalid", () =>
    withTemporaryFolder(async (folder) => {
      const options = { program: "stock-from-live-orders/stock", url: product.url, key: "not-a-key" };
      const snippet = startSnippet(language, { ...options, args: ["state.json"], folder });
      expect(await snippet.exitCode).toBe(1);
      expect(snippet.errorOutput()).toContain("key_invalid");
    }));

  /** Returns the quantities that the till corrects: it omits a live glass of wine, and one canceled burger. */
  function liveDifference() {
    const [burger = "", wine = ""] = Object.keys(expectedStockQuantities);
    return { [burger]: 5, [wine]: 4 };
  }

  async function sumQuantitiesOfFinishedOrders(other: TestLocation): Promise<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const order of (await readOrders("since=2026-05-01", other)).filter(({ isCanceled }) => !isCanceled))
      for (const row of [...order.items, ...order.menus.flatMap(({ items }) => items)]) {
        const isGone = row.isCanceled || (row.isTransferred && !order.isTransferred);
        if (isGone || !row.stockImpactIndicator) continue;
        sums[row.itemCatalogId] = (sums[row.itemCatalogId] ?? 0) + row.quantity * (row.weight ?? 1);
      }
    return sums;
  }
});

/** Returns the sum of the changes that programs have printed, as quantities that were taken, by product. */
function sumChanges(...snippets: RunningSnippet[]): Record<string, number> {
  const thousandths: Record<string, number> = {};
  for (const line of snippets.flatMap((snippet) => snippet.output().trimEnd().split("\n"))) {
    if (line === "") continue;
    const { productId, change } = JSON.parse(line);
    thousandths[productId] = (thousandths[productId] ?? 0) - Math.round(change * 1000);
  }
  return Object.fromEntries(Object.entries(thousandths).map(([id, sum]) => [id, sum / 1000]));
}
