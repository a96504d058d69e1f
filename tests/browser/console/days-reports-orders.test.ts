import { createChangedTestLiveOrder, createTestLiveOrderInput } from "@pragma/order-live/testing/order-fixtures";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const day = "2026-05-28";
const till = generateTill({ seed: "console", orders: 14, day });

let testLocation: TestLocation;
let site: ConsoleUnderTest;
let reportId: string;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, {
    scopes: ["reports:read", "orders:read", "orders:write", "tills:write"],
  });
  const finalCashBalance = (till.finalCashBalance ?? 0) + 1_234;
  await testLocation.pushTillWithRetries({ ...till, finalCashBalance, reportNumber: 1_133 });
  const [report] = await testLocation.waitForReports(1);
  reportId = report?.id ?? "";
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

describe("a day", () => {
  it("explains its failed check with the amounts and the report", async () => {
    const { page, errors, close } = await site.openView("/days", { apiKey: testLocation.key });
    await page.getByRole("link", { name: "Thu, May 28, 2026", exact: true }).click();
    const cash = page
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading", { name: "Counted cash equals expected cash" }) });
    await cash.getByText("Failed").waitFor();
    const shown = await cash.textContent();
    expect(shown).toContain("+€12.34");
    expect(shown).toContain("The cash that was counted at the end, and the cash that should be there");
    expect(shown).toMatch(/Counted cash€[\d,.]+Expected€/);
    for (const heading of ["Likely causes", "What to do"]) await cash.getByRole("heading", { name: heading }).waitFor();
    const methods = page.getByRole("region", { name: "Payments", exact: true });
    const payments = till.orderList.flatMap(({ paymentRowList }) => paymentRowList);
    const payment = payments.find(({ status, paymentType }) => status === "validated" && paymentType === "payment");
    await methods.getByRole("rowheader", { name: payment?.name ?? "" }).waitFor();
    await cash.getByRole("link", { name: "Report 1133" }).click();
    await page.getByRole("article", { name: /^Ticket of report/ }).waitFor();
    expect(errors).toEqual([]);
    await close();
  });

  it("has no violations", async () => {
    await checkView(site, `/days/${day}`, testLocation.key, (page) => page.getByText("+€12.34").first().waitFor());
  });

  it("is in a list without violations", async () => {
    await checkView(site, "/days", testLocation.key, (page) =>
      page.getByText("+€12.34").filter({ visible: true }).waitFor(),
    );
  });

  it("copies the request that shows the same, without the key", async () => {
    const { page, close } = await site.openView(`/days/${day}`, { apiKey: testLocation.key });
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied").first().waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toMatch(
      /^curl -H "Authorization: Bearer \$PRAGMA_API_KEY" 'http:\/\/127\.0\.0\.1:\d+\/v1\/days\/2026-05-28'$/,
    );
    await close();
  });

  it("states what failed and what to do if there is no such day", async () => {
    const { page, close } = await site.openView("/days/2020-01-01", { apiKey: testLocation.key });
    const alert = page.getByRole("alert");
    await alert.getByRole("link", { name: "What to do" }).waitFor();
    await alert.getByRole("button", { name: "Try again" }).waitFor();
    await close();
  });
});

describe("a report", () => {
  it("is a ticket with the figures of the report, and prints nothing else", async () => {
    const { page, close } = await site.openView(`/reports/${reportId}`, { apiKey: testLocation.key });
    const ticket = page.getByRole("article", { name: /^Ticket of report/ });
    await ticket.waitFor();
    const { totalSales, reportPayments, finalCashBalance, orderCount, orders } = await testLocation.getJson<{
      totalSales: number;
      finalCashBalance: number;
      orderCount: number;
      orders: unknown[];
      reportPayments: { paymentName: string; paymentAmount: number }[];
    }>(`/v2/reports/${reportId}`);
    await ticket.getByText("Expected", { exact: true }).waitFor();
    const format = (amount: number) =>
      new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }).format(amount / 100);
    const shown = await ticket.textContent();
    expect(shown).toContain(`Total sales${format(totalSales)}`);
    for (const { paymentName, paymentAmount } of reportPayments)
      expect(shown?.replaceAll(/ \([^)]+\)(?=€)/g, "")).toContain(`${paymentName}${format(paymentAmount)}`);
    expect(shown).toContain("No. 1133");
    expect(shown).toContain(
      `Expected${format(finalCashBalance - 1_234)}Counted at the end${format(finalCashBalance)}Difference+€12.34`,
    );
    expect(await ticket.getByText("It is not the total of a payment method.").count()).toBe(
      await ticket.getByText("Not counted for a clerk").count(),
    );
    const byClerk = await ticket.getByRole("region", { name: "Payments by clerk" }).locator("dd").allTextContents();
    const amounts = byClerk.map((amount) => Math.round(Number(amount.replaceAll(/[^\d.-]/g, "")) * 100));
    expect(amounts.slice(0, -1).reduce((sum, amount) => sum + amount, 0)).toBe(amounts.at(-1));
    expect(amounts.at(-1)).toBe(reportPayments.reduce((sum, { paymentAmount }) => sum + paymentAmount, 0));
    const states = page.getByRole("region", { name: `${orders.length} orders` });
    await states.getByText("Sold", { exact: true }).first().waitFor();
    expect(await states.getByText("Sold", { exact: true }).count()).toBe(orderCount);
    if (orders.length > orderCount)
      await states.getByText(/canceled or transferred, and (is|are) in no total/).waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await ticket.isVisible()).toBe(true);
    for (const hidden of [
      page.getByRole("navigation"),
      page.getByRole("heading", { level: 1 }),
      page.getByRole("button", { name: "Print" }),
    ])
      expect(await hidden.isVisible()).toBe(false);
    const pdf = await page.pdf({ width: "90mm" });
    expect(pdf.byteLength).toBeGreaterThan(5_000);
    await close();
  });

  it("has no violations", async () => {
    await checkView(site, `/reports/${reportId}`, testLocation.key, (page) => page.getByRole("article").waitFor());
  });

  it("is in a list with 24-hour times, whose time zone the page names once", async () => {
    const { page, close } = await site.openView("/reports", { apiKey: testLocation.key });
    await page.getByRole("link", { name: "Thu, May 28, 2026", exact: true }).waitFor();
    expect(await page.getByRole("table").textContent()).not.toMatch(/\d [AP]M/);
    expect(await page.getByText("All times are in the time zone Europe/Paris.").count()).toBe(1);
    await close();
  });

  it("is in a list whose times have one line each on a phone", async () => {
    const { page, close } = await site.openView("/reports", { apiKey: testLocation.key, width: 390 });
    const times = page.getByRole("table").locator("time").filter({ visible: true });
    await times.first().waitFor();
    for (const time of await times.all())
      expect(await time.evaluate((element) => element.getClientRects().length)).toBe(1);
    const table = `document.querySelector('[role=group][aria-label="Reports"]')`;
    expect(await page.evaluate(`${table}.scrollWidth <= ${table}.clientWidth`)).toBe(true);
    await close();
  });

  it("is expected when a location has none yet, unless dates are chosen", async () => {
    const { key } = await createTestLocation(await getSharedPragmaUnderTest());
    const { page, close } = await site.openView("/reports", { apiKey: key });
    await page.getByText("There is no report yet.").waitFor();
    await page.getByLabel("From").fill("2026-05-01");
    await page.getByText("No report matches. Choose other dates.").waitFor();
    await close();
  });

  it("is in a list without violations", async () => {
    await checkView(site, "/reports", testLocation.key, (page) => page.getByRole("table").waitFor());
  });
});

describe("orders", () => {
  it("are found by table and by amount in the chosen days", async () => {
    const order = till.orderList.find(({ tableName, isCanceled, total }) => tableName && !isCanceled && total > 0);
    const { page, close } = await site.openView(`/orders?since=${day}&until=${day}`, { apiKey: testLocation.key });
    const search = page.getByLabel("Find by ID, table or amount");
    await search.fill(order?.tableName ?? "");
    await search.press("Enter");
    await page.getByText(/Searched 1[0-9] of 1[0-9] orders/).waitFor();
    expect(await page.getByRole("link", { name: order?.tableName ?? "", exact: true }).count()).toBeGreaterThan(0);
    expect(new URL(page.url()).searchParams.get("find")).toBe(order?.tableName);
    await search.fill(String((order?.total ?? 0) / 100));
    await search.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBe(String((order?.total ?? 0) / 100));
    await page
      .getByRole("link", { name: order?.tableName ?? "", exact: true })
      .first()
      .click();
    await page.getByRole("heading", { name: "History" }).waitFor();
    await close();
  });

  it("have a history with products, payments and clerks, from the till of their shift", async () => {
    const order = till.orderList.find(({ isCanceled, paymentRowList, productRowList }) => {
      return !isCanceled && paymentRowList.length > 0 && productRowList.some(({ recordedAt }) => recordedAt !== null);
    });
    const { page, errors, close } = await site.openView(`/orders/${order?.id}`, { apiKey: testLocation.key });
    const history = page.getByRole("region", { name: "History" });
    await history.getByText("In the till of its shift, received by the API").waitFor();
    const steps = await history.getByRole("listitem").allTextContents();
    expect(steps[0]).toContain("Opened");
    expect(steps.join("\n")).toContain(`by ${order?.operatorName}`);
    for (const step of ["Added: ", "Payment: ", "Closed"]) expect(steps.join("\n")).toContain(step);
    expect(steps.at(-1)).toContain("received by the API");
    expect(errors).toEqual([]);
    await close();
  });

  it("show what changes while they are live", async () => {
    const order = createTestLiveOrderInput();
    await testLocation.create("/v1/orders-live/", [order]);
    const { page, close } = await site.openView(`/orders/${order.id}`, { apiKey: testLocation.key });
    await page.getByText("Received by the API", { exact: false }).waitFor();
    await testLocation.create("/v1/orders-live/", [createChangedTestLiveOrder(order, { comment: "Window seat" })]);
    await page.reload();
    await page.getByText("Last change received by the API").waitFor();
    await page.getByText("Window seat").waitFor();
    await close();
  });

  it("open by their ID", async () => {
    const order = till.orderList[0];
    const { page, errors, close } = await site.openView("/orders", { apiKey: testLocation.key });
    await page.getByLabel("Find by ID, table or amount").fill(order?.id ?? "");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("region", { name: "Payments" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/orders/${order?.id}`);
    expect(errors).toEqual([]);
    await close();
  });

  it("have no violations", async () => {
    const order = till.orderList[0];
    await checkView(site, `/orders/${order?.id}`, testLocation.key, (page) =>
      page.getByRole("heading", { name: "History" }).waitFor(),
    );
  });

  it("are in a list without violations", async () => {
    await checkView(site, "/orders", testLocation.key, (page) => page.getByRole("table").waitFor());
  });
});
