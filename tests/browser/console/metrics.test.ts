import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const query = "since=2026-05-25&until=2026-05-31";

let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
  await testLocation.pushTillWithRetries(generateTill({ seed: "metrics", orders: 8, day: "2026-05-28" }));
  await testLocation.waitForReports(1);
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

it("answers a question that is chosen by clicking, and whose choices are part of the URL", async () => {
  const { page, errors, close } = await site.openView(`/metrics?${query}`, { apiKey: testLocation.key });
  await page.getByRole("heading", { name: "Sales by day" }).waitFor();
  await page.getByLabel("Measure").selectOption("Payments");
  await page.getByLabel("By", { exact: true }).selectOption("Payment method");
  await page.getByRole("heading", { name: "Payments by payment method" }).waitFor();
  expect(new URL(page.url()).search).toContain("measure=payments&by=paymentMethod");
  const { totals } = await testLocation.getJson<{ totals: { values: { payments: number } }[] }>(
    `/v1/metrics?measures=payments&${query}`,
  );
  const total = new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }).format(
    (totals[0]?.values.payments ?? 0) / 100,
  );
  await page.getByText(total, { exact: true }).first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("payments-by-paymentMethod-2026-05-25-2026-05-31.csv");
  expect(errors).toEqual([]);
  await close();
});

it("lists hours in their sequence", async () => {
  const { page, close } = await site.openView(`/metrics?${query}&by=hour`, { apiKey: testLocation.key });
  await page.getByRole("heading", { name: "Sales by hour" }).waitFor();
  await page.getByRole("rowheader").first().waitFor();
  const hours = await page.getByRole("rowheader").allTextContents();
  expect(hours.length).toBeGreaterThan(1);
  for (const hour of hours) expect(hour).toMatch(/^\d\d:00$/);
  expect(hours).toEqual(hours.toSorted());
  await close();
});

it("answers VAT by rate and service type, in a table with the words of the other views", async () => {
  const { page, errors, close } = await site.openView(`/metrics?${query}&measure=tax`, { apiKey: testLocation.key });
  await page.getByLabel("By", { exact: true }).selectOption("VAT rate");
  const thenBy = page.getByLabel("Then by");
  const choices = await thenBy.getByRole("option").allTextContents();
  expect(choices).toContain("Hour");
  // The API combines no rate with a payment method.
  expect(choices).not.toContain("Payment method");
  await thenBy.selectOption("Service type");
  await page.getByRole("heading", { name: "VAT by VAT rate and service type" }).waitFor();
  expect(new URL(page.url()).search).toContain("by=taxRate&thenBy=serviceType");
  // Until the answer arrives, the table is that of the previous question.
  await page
    .getByRole("row")
    .filter({ hasText: /^\d+(\.\d)?%(In the restaurant|Takeout|Delivery|Unknown)€/ })
    .first()
    .waitFor();
  expect(errors).toEqual([]);
  await close();
});

it("shows the sales that are not in products, of which the description speaks", async () => {
  const { page, close } = await site.openView(`/metrics?${query}&by=product`, { apiKey: testLocation.key });
  await page.getByRole("heading", { name: "Sales by product" }).waitFor();
  await page.getByRole("term").filter({ hasText: "Not in products" }).waitFor();
  await page.getByText("see “Not in products”").waitFor();
  await close();
});

it("describes sales by hour without products", async () => {
  const { page, close } = await site.openView(`/metrics?${query}&by=hour`, { apiKey: testLocation.key });
  await page.getByRole("heading", { name: "Sales by hour" }).waitFor();
  await page.getByText("Sales including tax.", { exact: true }).waitFor();
  expect(await page.getByText("Not in products").count()).toBe(0);
  await close();
});

it("compares a day with the same weekday before, and shows the date of that day", async () => {
  const day = "since=2026-05-28&until=2026-05-28";
  const { page, errors, close } = await site.openView(`/metrics?${day}&by=hour`, { apiKey: testLocation.key });
  await page.getByLabel("Compared with").selectOption("Same weekdays before");
  const before = page.getByText("Earlier period: Thu, May 21, 2026");
  await before.first().waitFor();
  // As a figure, and in the legend of the chart.
  await expect.poll(() => before.count()).toBe(2);
  expect(new URL(page.url()).search).toContain("compare=previous_week");
  // No choice is cut: the field is as wide as it would be without limits.
  const width = await page.getByLabel("Compared with").evaluate((field) => field.offsetWidth);
  const naturalWidth = await page.getByLabel("Compared with").evaluate((field) => {
    field.style.width = "max-content";
    return field.offsetWidth;
  });
  expect(naturalWidth).toBeLessThanOrEqual(width);
  expect(errors).toEqual([]);
  await close();
});

it("has no violations", async () => {
  await checkView(site, `/metrics?${query}&compare=previous_period`, testLocation.key, (page) =>
    page.getByRole("img", { name: /^Sales: €/ }).waitFor(),
  );
});
