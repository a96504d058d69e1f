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
  await page.getByRole("button", { name: /Measure/ }).click();
  await page.getByRole("option", { name: "Payments", exact: true }).click();
  await page.getByRole("button", { name: /By$/ }).click();
  await page.getByRole("option", { name: "Payment method" }).click();
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

it("has no violations", async () => {
  await checkView(site, `/metrics?${query}&compare=previous_period`, testLocation.key, (page) =>
    page.getByRole("img", { name: /^Sales: €/ }).waitFor(),
  );
});
