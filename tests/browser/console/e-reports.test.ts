import { randomInt, randomUUID } from "node:crypto";
import { buildCompanyNumbers } from "@pragma/contracts/siren";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, expect, it } from "vitest";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

const { siren, siretCode } = buildCompanyNumbers(randomInt(90_000, 99_000));
/** The 15th of the month before the last one, in a period that has ended. */
const day = (() => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2, 15)).toISOString().slice(0, 10);
})();
const period = `${day.slice(0, 7)}-11`;
/** Every order is a sale, so that the report changes without any of them. */
const mix = { canceledOrder: 0, transferredOrder: 0, refundOrder: 0, giftedOrder: 0, trainingOrder: 0 };
const till = { ...generateTill({ seed: "e-reports", orders: 6, day, tillId: randomUUID(), mix }), siretCode };

let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  const product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, {
    scopes: ["tills:write", "reports:read", "orders:read", "locations:read", "accounting:write"],
  });
  await testLocation.pushTillWithRetries(till);
  await testLocation.waitForReports(1);
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

it("sets up a business, takes the report of a period, and shows what has changed since", async () => {
  const { page, errors, close } = await site.openView("/e-reporting", { apiKey: testLocation.key });
  await page.getByText("This key can read no business with e-reporting settings.").waitFor();
  await page.getByRole("button", { name: "Set up a business" }).click();
  const dialog = page.getByRole("dialog", { name: "Set up a business" });
  await dialog.getByLabel("SIREN").fill(`${siren.slice(0, 8)}${(Number(siren.slice(8)) + 1) % 10}`);
  await dialog.getByLabel("Name of the business").fill("Chez Marcel");
  await dialog.getByLabel("Number of the approved platform").fill("0123");
  await dialog.getByLabel("Name of the approved platform").fill("Plateforme");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("A SIREN has a wrong check digit: one of its digits is wrong").waitFor();
  await dialog.getByLabel("SIREN").fill(siren);
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row").filter({ has: page.getByText("Ready", { exact: true }) });
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: /^Sales \(10\.3\)/, level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/e-reporting/${siren}/transactions/${period}`);
  await page
    .getByRole("row", { name: /^G1\.53/ })
    .getByText("Passed")
    .waitFor();
  await page.getByRole("button", { name: "Take the report" }).click();
  const id = `${siren}-T-${period.replaceAll("-", "")}-1`;
  await page.getByText(`The file ${id} was stored.`).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: `Download ${id}.xml` }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`${id}.xml`);

  const replaced = { ...till, orderList: till.orderList.slice(1) };
  expect((await testLocation.request("PUT", `/v1/tills/${till.id}`, { body: replaced })).status).toBeLessThan(300);
  await eventually("the change", async () => {
    const path = `/v1/e-reports/${siren}/transactions/${period}`;
    return (await testLocation.getJson(path)).state === "changed";
  });
  await page.reload();
  await page.getByRole("region", { name: "Changed since the last file" }).getByRole("row").nth(1).waitFor();
  await page.getByRole("button", { name: "Take the report" }).click();
  await page.getByText("(RE)").waitFor();
  expect(errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
  await close();
}, 120_000);

it("has no violations", async () => {
  await checkView(site, "/e-reporting", testLocation.key, (page) => page.getByRole("rowheader").first().waitFor());
  await checkView(site, `/e-reporting/${siren}/transactions/${period}`, testLocation.key, (page) =>
    page.getByRole("row", { name: /^G1\.53/ }).waitFor(),
  );
}, 120_000);

it("changes the settings of a business with a key for all locations", async () => {
  const { adminKey: apiKey } = await getSharedPragmaUnderTest();
  const { page, errors, close } = await site.openView(`/e-reporting?siren=${siren}`, { apiKey });
  await page.getByRole("button", { name: "Change the settings" }).click();
  const dialog = page.getByRole("dialog", { name: "E-reporting settings of Chez Marcel" });
  await dialog.getByLabel("VAT regime").selectOption({ label: "Normal, quarterly returns" });
  await dialog.getByLabel("VAT on services is due on debits since").fill("2027-01-01");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const stored = await testLocation.getJson(`/v1/e-reporting/declarants/${siren}`);
  expect(stored).toMatchObject({ companyName: "Chez Marcel", vatRegime: "quarterly", vatOnDebitsSince: "2027-01-01" });
  expect(errors).toEqual([]);
  await close();
});
