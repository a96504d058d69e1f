import { generateTill } from "@pragma/simulator/generate-till";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { findColorViolations, findSeriousViolations } from "./check-accessibility.ts";
import { type DocumentationSiteUnderTest, startSiteInBrowser, waitForExpression } from "./documentation-site.ts";

const day = (daysAgo: number) => {
  const today = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: "Europe/Paris" }).format(new Date());
  return new Date(Date.parse(`${today}T00:00:00Z`) - daysAgo * 86_400_000).toISOString().slice(0, 10);
};
/** One till in the last complete week, and one in the week before. */
const tills = [
  generateTill({ seed: "week", orders: 12, day: day(1) }),
  generateTill({ seed: "week", orders: 8, day: day(8) }),
];

let testLocation: TestLocation;
/** The site of an installation that has a demo. The browser maps the default address of the gateway to the tested one. */
let siteWithDemo: DocumentationSiteUnderTest;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: ["reports:read", "locations:read", "tills:write"] });
  for (const till of tills) await testLocation.pushTillWithRetries(till);
  await testLocation.waitForReports(tills.length);
  siteWithDemo = await startSiteInBrowser({
    flags: [`--host-resolver-rules=MAP 127.0.0.1:4000 ${new URL(product.url).host}`],
    environment: { DOCS_DEMO_API_KEY: testLocation.key },
  });
}, 300_000);
afterAll(() => siteWithDemo?.close());

/** Opens the home page, as a site without a demo key serves it unless `hasDemoKey` is true, and scrolls to the week. */
async function openWeek({ width = 1440, hasDemoKey = false, access = {} as Record<string, string> } = {}) {
  const tab = await siteWithDemo.openTab("/no", { viewport: { width, height: 900 }, hasOwnCache: true });
  const { page } = tab;
  if (!hasDemoKey) await page.route("**/demo-access.json", (route) => route.fulfill({ json: { apiKey: null } }));
  await page.evaluate(`Object.assign(sessionStorage, ${JSON.stringify(access)})`);
  const origins = new Set<string>();
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  tab.consoleErrors.length = 0;
  await page.goto(`${siteWithDemo.url}/`);
  await page.getByRole("heading", { name: "A week of the demo" }).scrollIntoViewIfNeeded();
  return { ...tab, origins, status: page.getByRole("main").getByRole("status") };
}

/**
 * Opens the home page in a window in which the week is far below, and scrolls to it. The scripts that the page requests
 * from then on wait until the test sends or drops them.
 */
async function openWithHeldScripts() {
  const tab = await siteWithDemo.openTab("/", { viewport: { width: 390, height: 500 }, hasOwnCache: true });
  const { page } = tab;
  let release: (isSent: boolean) => void = () => {};
  const decision = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  await page.route("**/demo-access.json", (route) => route.fulfill({ json: { apiKey: null } }));
  await page.route("**/assets/js/**", async (route) => ((await decision) ? route.continue() : route.abort()));
  await page.getByRole("heading", { name: "A week of the demo" }).scrollIntoViewIfNeeded();
  const charts = page.locator("main [role=img]");
  return { ...tab, charts, sendScripts: () => release(true), dropScripts: () => release(false) };
}

const waitForCharts = (page: Page) =>
  waitForExpression(page, `document.querySelectorAll("main [role=img] canvas").length === 4`);

describe("the week on the home page, without an API", () => {
  it("shows the recorded figures with their date, and sends no request to the API", async () => {
    const { page, origins, status, consoleErrors, close } = await openWeek();
    await waitForCharts(page);
    expect(await status.textContent()).toMatch(/^Recorded.*25 May to 31 May 2026, recorded on \d+ \w+ \d{4}$/);
    expect([...origins]).toEqual([siteWithDemo.url]);
    expect(consoleErrors).toEqual([]);
    const days = page.getByRole("img", { name: /^Sales by day: / });
    expect(await days.getAttribute("aria-label")).toMatch(/The best day is \w+day with €[\d,.]+\.$/);
    expect(await page.getByRole("region", { name: "Totals of the week" }).textContent()).toMatch(/Sales€[\d,]+\.\d\d/);
    await close();
  });

  it("opens tables and requests with the keyboard, and fits a phone then", async () => {
    const { page, close } = await openWeek({ width: 360 });
    await waitForCharts(page);
    const payments = page.getByRole("region", { name: "Payments by method" });
    await payments.getByText("Table").press("Enter");
    expect(await payments.getByRole("table").getByRole("columnheader").allTextContents()).toEqual([
      "Payment method",
      "Payments",
      "Number",
      "Tips",
    ]);
    await page.getByRole("button", { name: "Open all tables" }).press("Enter");
    await expect.poll(() => page.getByRole("main").getByRole("table").count()).toBeGreaterThanOrEqual(4);
    for (const request of await page.locator("main summary", { hasText: "Request" }).all())
      await request.press("Enter");
    await page.getByText("Show live figures").press("Enter");
    expect(await page.locator("main").textContent()).toContain("&dimensions=paymentMethod&since=2026-05-25");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await findSeriousViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    await waitForExpression(page, "document.documentElement.dataset.theme === 'light'");
    expect(await findColorViolations(page)).toEqual([]);
    await close();
  });

  it("shows placeholders of the same size until the charts are drawn", async () => {
    const { page, sendScripts, charts, close } = await openWithHeldScripts();
    expect(await charts.count()).toBe(4);
    await page.locator("main [role=img][aria-busy=true] [data-placeholder]").nth(3).waitFor();
    const backgrounds = await page.evaluate<string[]>(
      `[...document.querySelectorAll("[data-placeholder]")].map((part) => getComputedStyle(part).backgroundImage)`,
    );
    expect(backgrounds).not.toContain("none");
    const heights = `[...document.querySelectorAll("main, main section, main [role=img]")].map((part) => part.clientHeight)`;
    const before = await page.evaluate(heights);
    sendScripts();
    await waitForCharts(page);
    expect(await page.evaluate(heights)).toEqual(before);
    expect(await page.locator("main [role=img][aria-busy=false]").count()).toBe(4);
    await close();
  });

  it("refers to the tables if the charts do not load", async () => {
    const { charts, dropScripts, consoleErrors, close } = await openWithHeldScripts();
    dropScripts();
    await expect
      .poll(() => charts.allTextContents())
      .toEqual(Array(4).fill("This chart did not load. Reload the page, or open the table."));
    expect(consoleErrors.filter((error) => !error.includes("net::ERR_FAILED"))).toEqual([]);
    await close();
  });

  it("draws the charts again when the color mode or the width changes", async () => {
    const { page, close } = await openWeek();
    await waitForCharts(page);
    const image = () => page.evaluate<string>(`document.querySelector("main [role=img] canvas").toDataURL()`);
    const dark = await image();
    await page.emulateMedia({ colorScheme: "light" });
    await expect.poll(image).not.toBe(dark);
    await page.setViewportSize({ width: 390, height: 900 });
    const width = () => page.evaluate<number>(`document.querySelector("main [role=img] canvas").clientWidth`);
    await expect.poll(width).toBeLessThan(390);
    await close();
  });
});

describe("the week on the home page, with an API", () => {
  it("shows the figures of the demo, with the key that the server of the site offers", async () => {
    const { page, status, consoleErrors, close } = await openWeek({ hasDemoKey: true });
    await status.getByText("Live").waitFor();
    const { data } = await testLocation.getJson<{ data: { totals: { totalSales: number } }[] }>(
      `/v1/days/?since=${day(1)}&until=${day(1)}`,
    );
    const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });
    const text = await page.getByRole("region", { name: "Totals of the week" }).textContent();
    expect(text).toContain(`Sales${euros.format((data[0]?.totals.totalSales ?? 0) / 100)}`);
    expect(await page.locator("main").textContent()).toContain(`since=${day(7)}&until=${day(1)}`);
    expect(await page.locator("main").textContent()).not.toContain(testLocation.key);
    expect(consoleErrors).toEqual([]);
    await close();
  });

  it("shows the figures of the reader's own key, which the reader enters there", async () => {
    const { page, status, close } = await openWeek();
    await page.getByText("Show live figures").click();
    const form = page.getByRole("form", { name: "Live figures" });
    await form.getByLabel("API key").fill(testLocation.key);
    await form.getByRole("button", { name: "Show" }).click();
    await status.getByText("Live").waitFor();
    expect(await status.textContent()).toContain("http://127.0.0.1:4000");
    await close();
  });

  it("states that a key is rejected, and shows the recorded figures", async () => {
    const { status, page, close } = await openWeek({ access: { "pragma-api-key http://127.0.0.1:4000": "not-a-key" } });
    await status.getByText("Rejected").waitFor();
    expect(await status.textContent()).toMatch(/401 key_invalid.*recorded on/);
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await close();
  });

  it("states that the API is not reachable, and shows the recorded figures", async () => {
    const server = "http://127.0.0.1:9";
    const { status, page, close } = await openWeek({
      access: { "pragma-server": server, [`pragma-api-key ${server}`]: testLocation.key },
    });
    await status.getByText("Not reachable").waitFor();
    expect(await status.textContent()).toContain(server);
    await waitForCharts(page);
    await close();
  });

  it("shows the recorded figures if another program responds", async () => {
    const { status, page, close } = await openWeek({ access: { "pragma-api-key http://127.0.0.1:4000": "any" } });
    const respond = {
      status: 200,
      contentType: "application/json",
      headers: { "access-control-allow-origin": "*" },
      body: "{}",
    };
    await page.route("**/v1/**", (route) => route.fulfill(respond));
    await page.reload();
    await page.getByRole("heading", { name: "A week of the demo" }).scrollIntoViewIfNeeded();
    await status.getByText("Not reachable").waitFor();
    await waitForCharts(page);
    await close();
  });
});
