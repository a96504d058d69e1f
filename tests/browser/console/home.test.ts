import { createChangedTestLiveOrder, createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";
import { findDayBefore } from "./find-day-before.ts";

let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, {
    scopes: ["reports:read", "orders:read", "orders:write", "tills:read", "tills:write"],
  });
  const tills = [
    generateTill({ seed: "home", orders: 9, day: findDayBefore(1) }),
    generateTill({ seed: "home", orders: 6, day: findDayBefore(9) }),
  ];
  const [till] = tills;
  if (till?.finalCashBalance) till.finalCashBalance += 450;
  for (const each of tills) await testLocation.pushTillWithRetries(each);
  await testLocation.waitForReports(tills.length);
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

it("shows a live order as it moves", async () => {
  const { page, errors, close } = await site.openView("/", { apiKey: testLocation.key });
  const live = page.getByRole("region", { name: "Live orders" });
  await live.getByText("Live", { exact: true }).waitFor();
  const order = createTestLiveOrderInput({ tableName: "Window 7", isPaid: false, total: 4_200 });
  await testLocation.create("/v1/orders-live/", [order]);
  const row = live.getByRole("listitem").filter({ hasText: "Window 7" });
  await row.getByText("Open", { exact: true }).waitFor();
  expect(await row.textContent()).toContain("€42.00");
  await testLocation.create("/v1/orders-live/", [createChangedTestLiveOrder(order, { isPaid: true, total: 5_150 })]);
  await row.getByText("Paid", { exact: true }).waitFor();
  expect(await row.textContent()).toContain("€51.50");
  await row.getByRole("link", { name: "Window 7" }).click();
  await page.getByRole("heading", { name: "Order Window 7" }).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  // A failed request would be an error: the order is read where it is.
  expect(errors).toEqual([]);
  await close();
});

it("shows each day with its failed checks, and sales against the week before", async () => {
  const { page, close } = await site.openView("/", { apiKey: testLocation.key });
  const days = page.getByRole("region", { name: "Today and the last 14 days" });
  await days.getByText("Cash difference").filter({ visible: true }).waitFor();
  await days.getByText("Figures are those of closed shifts.").waitFor();
  expect(await days.getByText("+€4.50").count()).toBeGreaterThan(0);
  expect(await days.getByRole("row").count()).toBe(16);
  await page.getByRole("img", { name: /^Sales by day: €/ }).waitFor();
  await page.getByText("Report available").waitFor();
  // The till that was pushed last is that of nine days ago.
  const lastTill = page.getByRole("region", { name: "Last till" });
  const longDay = new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeZone: "UTC" });
  await lastTill.getByRole("link", { name: longDay.format(new Date(findDayBefore(9))) }).waitFor();
  await close();
});

it("shows failed checks on a phone below the state of the day, without a column of their own", async () => {
  const { page, close } = await site.openView("/", { apiKey: testLocation.key, width: 390 });
  const days = page.getByRole("region", { name: "Today and the last 14 days" });
  await days.getByText("Cash difference").filter({ visible: true }).waitFor();
  await days.getByRole("button", { name: "More columns: Orders", exact: true }).click();
  expect(await days.locator("thead th").filter({ visible: true }).allTextContents()).toEqual([
    "Day",
    "State",
    "Sales",
    "Orders",
  ]);
  expect(await days.getByText("Cash difference").filter({ visible: true }).count()).toBe(1);
  await close();
});

it("has no violations", async () => {
  await checkView(site, "/", testLocation.key, async (page) => {
    await page.getByRole("img", { name: /^Sales by day/ }).waitFor();
    await page.getByText("Report available").waitFor();
    await page.getByText("Cash difference").filter({ visible: true }).waitFor();
  });
});
