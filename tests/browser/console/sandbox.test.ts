import type { Sandbox } from "@pragma/contracts/sandbox";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../../deploy/local/free-port.js";
import { type PragmaUnderTest, startPragmaUnderTest } from "../../harness/pragma-under-test.ts";
import { createTestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let site: ConsoleUnderTest;
/** The key of the sandbox that the first test creates in the console. */
let apiKey: string;
beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ SANDBOXES: "on", SANDBOX_INBOX_PORT: String(await findFreePort()) },
    ...{ MAX_SANDBOXES: "1", CORS_ORIGINS: "*", WEBHOOK_RETRY_SCHEDULE: "1s,1s,1s" },
  });
  product = await startPragmaUnderTest(environment.variables);
  site = await startConsoleInBrowser(product.url, { hasSandboxes: true });
}, 300_000);
afterAll(async () => {
  await site?.close();
  await product?.stop();
  await environment?.remove();
});

it("is created on the sign-in page, which shows its key once and then opens it", async () => {
  await checkView(site, "/", undefined, (page) => page.getByRole("button", { name: "Create a sandbox" }).waitFor());
  const { page, errors, close } = await site.openView("/");
  await page.getByRole("button", { name: "Create a sandbox" }).click();
  const key = page.getByText(/^pragma_/);
  await key.waitFor();
  apiKey = (await key.textContent()) ?? "";
  await page.getByRole("button", { name: "Open the sandbox" }).click();
  await page.getByRole("heading", { name: "Sandbox", level: 1 }).waitFor();
  expect(await page.getByText(apiKey).count()).toBe(0);
  await page.getByText("Removed", { exact: true }).waitFor();
  await page.getByText("in 14 days").waitFor();
  expect(errors).toEqual([]);
  await close();

  const full = await site.openView("/");
  await full.page.getByRole("button", { name: "Create a sandbox" }).click();
  await full.page.getByRole("alert").getByText("There are 1 sandboxes, which is the maximum").waitFor();
  await full.close();
}, 240_000);

it("makes things happen, leads to what came of them, and shows the messages in the inbox", async () => {
  await waitUntilReady();
  const { page, errors, close } = await site.openView("/sandbox", { apiKey });
  const inbox = page.getByRole("region", { name: "Inbox" });
  await page.getByRole("button", { name: "Open an order" }).click();
  await page.getByText("An order was opened.").waitFor();
  await page.getByRole("button", { name: "Pay an order" }).click();
  await page.getByText("An order was paid.").waitFor();
  const orders = page.getByRole("link", { name: "Open the order" });
  const [opened, paid] = await Promise.all([0, 1].map((index) => orders.nth(index).getAttribute("href")));
  expect(paid).toMatch(/^\/orders\/[\w-]+\?live=true$/);
  expect(paid).toBe(opened);
  const orderId = paid?.match(/[\w-]{36}/)?.[0] ?? "";
  const message = inbox.getByRole("listitem").filter({ hasText: "order.paid" }).filter({ hasText: orderId });
  await message.getByText("Signature valid").waitFor();
  await message.getByText("Body and headers").click();
  await message.getByText("webhook-signature").waitFor();
  expect(await message.getByRole("region", { name: "Body" }).textContent()).toContain(orderId);

  await page.getByRole("button", { name: "Close a shift" }).click();
  await page.getByRole("link", { name: "Open its report" }).click();
  await page.getByRole("heading", { name: /^Report \d+$/, level: 1 }).waitFor();
  await page.goBack();

  await page.getByLabel("Problem", { exact: true }).selectOption("The cash does not agree");
  await page.getByRole("button", { name: "Break a day" }).click();
  const broken = page.getByRole("listitem").filter({ hasText: "A day was broken." });
  // The report is computed again first.
  await inbox.getByText("report.replaced").first().waitFor();
  await broken.getByRole("link", { name: "Open the day" }).click();
  await page.getByRole("heading", { name: "Counted cash equals expected cash" }).waitFor();
  await page.goBack();
  const days = page.getByRole("region", { name: "Days with a problem on purpose" });
  await days.getByText("5.00 more than expected").first().waitFor();

  await page.getByLabel("Messages").fill("2");
  await page.getByRole("button", { name: "Let messages fail" }).click();
  await page.getByText("The next 2 messages fail.").waitFor();
  await page.getByRole("button", { name: "Cancel an order" }).click();
  await inbox.getByText("Responded 500").first().waitFor();
  const canceled = page.getByRole("listitem").filter({ hasText: "An order was canceled." });
  await canceled.getByRole("link", { name: "Its deliveries" }).click();
  await page.getByRole("table").getByRole("link", { name: "order.canceled" }).first().waitFor();
  expect(errors).toEqual([]);
  await close();
}, 240_000);

it("fits a phone, preselects a new recipient, and explains that its key ends with it", async () => {
  const { page, errors, close } = await site.openView("/sandbox", { apiKey, width: 390 });
  const link = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Sandbox" });
  await page.getByLabel("Problem", { exact: true }).selectOption("The cash does not agree");
  const card = await page.getByRole("listitem").filter({ hasText: "Break a day" }).boundingBox();
  const select = await page.getByLabel("Problem", { exact: true }).boundingBox();
  const end = (box: typeof card) => (box?.x ?? 0) + (box?.width ?? 0);
  expect(end(select)).toBeLessThanOrEqual(end(card));
  expect(end(await link.boundingBox())).toBeLessThanOrEqual(390);
  const missing = page.getByRole("row", { name: /A report number is missing/ }).first();
  await missing.getByRole("link").click();
  await page.getByText(/^1 report number is missing: \d+\.$/).waitFor();
  await page.goto(`${site.url}/keys`);
  await page.getByText("The key of a sandbox cannot be renewed").waitFor();
  await page.goto(`${site.url}/webhooks`);
  await page.getByRole("button", { name: "Create endpoint" }).click();
  const recipient = page.getByRole("dialog").getByLabel("Recipient");
  await recipient.waitFor();
  expect(await recipient.locator("option:checked").textContent()).toContain("New recipient");
  expect(errors).toEqual([]);
  await close();
});

it("states that an endpoint follows while it is being filled", async () => {
  const { page, errors, close } = await site.openView("/sandbox", { apiKey });
  let state = "filling";
  await page.route(/\/v1\/sandboxes\/current$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), state } });
  });
  await page.route(/\/v1\/webhooks\?/, async (route) => {
    const response = await route.fetch();
    const list = (await response.json()) as object;
    await route.fulfill({ response, json: state === "filling" ? { ...list, data: [] } : list });
  });
  await page.goto(`${site.url}/webhooks`);
  await page.getByText("The sandbox is still being filled: an endpoint with its inbox appears at the end.").waitFor();
  state = "ready";
  await page.getByRole("region", { name: "Endpoints" }).getByRole("listitem").first().waitFor();
  expect(await page.getByText("There is no endpoint yet.").count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});

it("is not shown to a key of another location", async () => {
  const { key } = await createTestLocation(product, { scopes: ["reports:read"] });
  const { page, close } = await site.openView("/sandbox", { apiKey: key });
  await page.getByText("This view is for sandboxes.").waitFor();
  const links = page.getByRole("navigation", { name: "Views" }).getByRole("link");
  expect(await links.allTextContents()).not.toContain("Sandbox");
  await close();
});

describe("without violations", () => {
  it("shows the sandbox", async () => {
    await checkView(site, "/sandbox", apiKey, async (page) => {
      await page.getByText("Signature valid").first().waitFor();
      await page.getByText("Body and headers").first().click();
      await page.getByRole("button", { name: "Open an order" }).click();
      await page.getByText("An order was opened.").waitFor();
    });
  });
});

async function waitUntilReady(): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}` };
  await eventually(
    "the sandbox to be filled",
    async () => {
      const response = await fetch(`${product.url}/v1/sandboxes/current`, { headers });
      return ((await response.json()) as Sandbox).state === "ready";
    },
    { timeoutSeconds: 90 },
  );
}
