import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const orderCount = 14;
const missingAmount = 250;
const range = "since=2026-05-27&until=2026-05-28";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let site: ConsoleUnderTest;
/** The order with a payment that is too low, which makes its till inconsistent. */
let refusedOrderId: string;
let refusedReportId: string;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, {
    scopes: ["reports:read", "orders:read", "tills:write", "accounting:write"],
  });
  await testLocation.pushTillWithRetries(
    generateTill({ seed: "console export", orders: orderCount, day: "2026-05-27" }),
  );
  const till = generateTill({ seed: "console refused", orders: orderCount, day: "2026-05-28" });
  const order = till.orderList.find(({ paymentRowList }) => paymentRowList?.length === 1);
  const payment = order?.paymentRowList?.[0];
  if (!order || !payment) throw new Error("The generated till has no payment.");
  payment.amount = (payment.amount ?? 0) - missingAmount;
  refusedOrderId = order.id;
  await testLocation.pushTillWithRetries(till);
  await testLocation.waitForReports(2);
  const { data } = await testLocation.getJson<{ data: { id: string; tillId: string }[] }>("/v2/reports");
  refusedReportId = data.find(({ tillId }) => tillId === till.id)?.id ?? "";
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

/** Downloads the file of a button, and returns its name and bytes. */
async function download(page: Page, name: RegExp): Promise<{ name: string; bytes: Buffer }> {
  const started = page.waitForEvent("download");
  await page.getByRole("button", { name }).first().click();
  const file = await started;
  await page.getByText("Downloaded").first().waitFor();
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

describe("a bulk export", () => {
  it("starts with the days and the content of the view that links to it, and its files can be downloaded", async () => {
    const { page, errors, close } = await site.openView(`/orders?${range}`, { apiKey: testLocation.key });
    await page.getByRole("link", { name: "Export in bulk" }).click();
    const dialog = page.getByRole("dialog", { name: "Start export" });
    expect(await dialog.getByLabel("Content").inputValue()).toBe("orders");
    expect(await dialog.getByLabel("From").inputValue()).toBe("2026-05-27");
    expect(await dialog.getByLabel("To").inputValue()).toBe("2026-05-28");
    await dialog.getByLabel("Format").selectOption("JSON lines (programs)");
    await dialog.getByRole("button", { name: "Start export" }).click();
    await page.getByRole("heading", { name: "Export: Orders" }).waitFor();
    const row = page.getByRole("listitem").filter({ hasText: "orders-2026-05-27" });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/\d kB/);
    const { name, bytes } = await download(page, /^Download orders-/);
    expect(name).toMatch(/^orders-2026-05-27-.*\.jsonl\.gz$/);
    const orders = gunzipSync(bytes).toString().trimEnd().split("\n");
    expect(orders.join("")).toContain(refusedOrderId);
    const manifest = await download(page, /^Download manifest\.json/);
    expect(JSON.parse(manifest.bytes.toString())).toMatchObject({ data: "orders", manifest: { rows: orders.length } });
    expect(errors).toEqual([]);
    await close();
  });

  it.each([
    ["/days", "reports"],
    ["/reports", "reports"],
  ])("starts from %s", async (path, data) => {
    const { page, close } = await site.openView(`${path}?${range}`, { apiKey: testLocation.key });
    await page.getByRole("link", { name: "Export in bulk" }).click();
    expect(new URL(page.url()).search).toBe(`?start=${data}&${range}`);
    await page.getByRole("dialog", { name: "Start export" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(new URL(page.url()).search).toBe("");
    await close();
  });

  it("is deleted after a confirmation that names it", async () => {
    const { id } = await testLocation.create("/v1/exports", {
      ...{ data: "taxes", format: "csv", since: "2026-05-27", until: "2026-05-28" },
    });
    const { page, errors, close } = await site.openView(`/exports/${id}`, { apiKey: testLocation.key });
    await page.getByRole("button", { name: "Delete export" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("VAT, May 27, 2026 – May 28, 2026").waitFor();
    await dialog.getByRole("button", { name: "Delete export" }).click();
    await page.getByRole("heading", { name: "Exports", level: 1 }).waitFor();
    await expect.poll(async () => (await testLocation.request("GET", `/v1/exports/${id}`)).status).toBe(404);
    expect(errors).toEqual([]);
    await close();
  });

  it("states what the API rejects", async () => {
    const path = "/exports?start=reports&since=2020-01-01&until=2026-05-28";
    const { page, close } = await site.openView(path, { apiKey: testLocation.key });
    await page.getByRole("dialog").getByRole("button", { name: "Start export" }).click();
    await page.getByText("Must be at most 1100 days from since to until").waitFor();
    await close();
  });
});

describe("an accounting export", () => {
  it("starts with a new config, and lists the refused till by day and report with the order in question", async () => {
    const { page, errors, close } = await site.openView(`/exports/accounting?${range}`, { apiKey: testLocation.key });
    await page.getByText("There is no accounting config.").waitFor();
    await page.getByRole("button", { name: "Start accounting export" }).click();
    const dialog = page.getByRole("dialog", { name: "Start accounting export" });
    await dialog.getByLabel("Name of the config").fill("Cabinet Martin");
    await dialog.getByLabel("Software").selectOption("Fulll");
    await dialog.getByRole("button", { name: "Start accounting export" }).click();
    const day = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Thursday, May 28, 2026" }) });
    await day.getByText("Orders differ from their payments").waitFor({ timeout: 20_000 });
    await day.getByText("+€2.50").waitFor();
    const hrefs = await day.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(hrefs).toEqual(["/days/2026-05-28", `/reports/${refusedReportId}`, `/orders/${refusedOrderId}`]);
    await page.getByRole("listitem").filter({ hasText: "Cabinet Martin" }).waitFor();
    const { name, bytes } = await download(page, /^Download .*FEC20260527\.txt/);
    expect(name).toMatch(/FEC20260527\.txt$/);
    expect(bytes.toString("latin1")).toMatch(/^JournalCode\t/);
    await page.getByRole("link", { name: "All accounting exports" }).click();
    await page.getByText("Tills refused").waitFor();
    expect(errors).toEqual([]);
    await close();
  });

  it("states that days have no till", async () => {
    const path = "/exports/accounting?since=2026-01-01&until=2026-01-02";
    const { page, close } = await site.openView(path, { apiKey: testLocation.key });
    await page.getByRole("button", { name: "Start accounting export" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start accounting export" }).click();
    await page.getByText("No till was closed on these days.").waitFor();
    await close();
  });
});

describe("of another key", () => {
  it("shows no export of another location", async () => {
    const other = await createTestLocation(product, { scopes: ["reports:read", "accounting:write"] });
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/exports");
    const { page, close } = await site.openView("/exports", { apiKey: other.key });
    await page.getByText("There is no export.").waitFor();
    await page.getByRole("link", { name: "Accounting exports" }).click();
    await page.getByText("There is no accounting export.").waitFor();
    await page.goto(`${site.url}/exports/${data[0]?.id}`);
    await page.getByRole("alert").filter({ hasText: "Export not found" }).waitFor();
    await close();
  });

  it("shows only the exports that the scopes allow", async () => {
    const reader = await createTestLocation(product, { scopes: ["reports:read"] });
    const { page, close } = await site.openView("/exports?start=reports", { apiKey: reader.key });
    const options = page.getByRole("dialog").getByLabel("Content").getByRole("option");
    await options.first().waitFor({ state: "attached" });
    expect(await options.allTextContents()).toEqual(["Reports", "VAT"]);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await page.getByRole("link", { name: "Accounting exports" }).count()).toBe(0);
    await page.goto(`${site.url}/exports/accounting`);
    await page.getByText("It needs the scope accounting:write.").waitFor();
    await close();
  });

  it("shows a key without reports:read its accounting exports only", async () => {
    const accountant = await createTestLocation(product, { scopes: ["accounting:write"] });
    const { page, close } = await site.openView("/exports", { apiKey: accountant.key });
    await page.getByText("There is no accounting export.").waitFor();
    expect(await page.getByRole("button", { name: "Start accounting export" }).isDisabled()).toBe(true);
    await close();
  });
});

describe("without violations", () => {
  it("lists bulk exports, one of which runs", async () => {
    await testLocation.create("/v1/exports", {
      ...{ data: "items", format: "csv", since: "2024-01-01", until: "2026-05-28" },
    });
    await checkView(site, "/exports", testLocation.key, (page) => page.getByRole("table").waitFor());
  });

  it("shows the form of a bulk export", async () => {
    await checkView(site, `/exports?start=orders&${range}`, testLocation.key, (page) =>
      page.getByRole("dialog").waitFor(),
    );
  });

  it("shows a bulk export", async () => {
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/exports");
    const id = data.at(-1)?.id;
    await eventually("the export to be done", async () => {
      return (await testLocation.getJson<{ state: string }>(`/v1/exports/${id}`)).state === "done";
    });
    await checkView(site, `/exports/${id}`, testLocation.key, (page) =>
      page.getByRole("button", { name: /^Download orders-/ }).waitFor(),
    );
  });

  it("lists accounting exports", async () => {
    await checkView(site, "/exports/accounting", testLocation.key, (page) => page.getByText("Tills refused").waitFor());
  });

  it("shows an accounting export with refused tills", async () => {
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/accounting/exports");
    await checkView(site, `/exports/accounting/${data[0]?.id}`, testLocation.key, (page) =>
      page.getByText("+€2.50").waitFor(),
    );
  });
});
