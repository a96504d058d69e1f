import { EventEmitter, once } from "node:events";
import { generateTill } from "@pragma/simulator/generate-till";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { findColorViolations, findSeriousViolations } from "./check-accessibility.ts";
import { type DocumentationSiteUnderTest, startSiteInBrowser, waitForExpression } from "./documentation-site.ts";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
  await testLocation.pushTillWithRetries(generateTill({ seed: "try it", orders: 3, day: "2026-05-29" }));
  await testLocation.waitForReports(1);
  // The form sends requests to the default address of the gateway, so the browser maps this address to the tested one.
  documentationSite = await startSiteInBrowser({
    flags: [`--host-resolver-rules=MAP 127.0.0.1:4000 ${new URL(product.url).host}`],
  });
}, 300_000);
afterAll(() => documentationSite?.close());

/** Opens the page of an operation and the form in which readers enter a request. */
async function openForm(path: string, options?: Parameters<DocumentationSiteUnderTest["openTab"]>[1]) {
  const tab = await documentationSite.openTab(path, options);
  await tab.page.getByRole("button", { name: "Try it" }).click();
  return { ...tab, form: tab.page.getByRole("form", { name: "Request" }) };
}

async function countTills(): Promise<number> {
  const { meta } = await testLocation.getJson<{ meta: { totalCount: number } }>(
    "/v1/tills?sinceDate=2020-01-01T00:00:00Z&size=1",
  );
  return meta.totalCount;
}

const isInViewport = (page: Page, locator: Locator) =>
  locator.boundingBox().then((box) => {
    const { height = 0 } = page.viewportSize() ?? {};
    return box !== null && box.height > 0 && box.y >= 0 && box.y + Math.min(box.height, 100) <= height;
  });

describe("the form beside an operation", () => {
  it("sends a request with the API key that was typed in, and shows the response", async () => {
    const { page, form, close } = await openForm("/api/list-reports");
    await form.getByLabel("API key").fill(testLocation.key);
    await form.getByText("Optional parameters").click();
    await form.getByLabel("size").fill("1");
    await page.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response" });
    await response.getByText("200 OK").waitFor();
    expect(await response.textContent()).toContain('"totalSales"');
    expect(await response.textContent()).toContain('"pageSize": 1');
    await response.getByRole("button", { name: "Show the example" }).click();
    await response.getByText("Example response").waitFor();
    await close();
  });

  it("is filled in by a link, which can neither select the server nor end a dry run", async () => {
    const server = "https%3A%2F%2Fattacker.example";
    const reportId = "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
    const tab = await documentationSite.openTab(`/api/get-report?try=true&id=${reportId}&server=${server}`);
    const form = tab.page.getByRole("form", { name: "Request" });
    await expect.poll(() => form.getByLabel("id path, required").inputValue()).toBe(reportId);
    expect(await form.textContent()).not.toContain("attacker.example");
    await tab.close();
    const list = await documentationSite.openTab("/api/list-reports?try=true&size=");
    await list.page.getByRole("form", { name: "Request" }).getByLabel("size query").waitFor();
    expect(await list.page.getByLabel("index query").isVisible()).toBe(false);
    await list.close();
    const push = await documentationSite.openTab("/api/push-till-v-2?try=true&dryRun=false");
    await push.page.getByRole("form", { name: "Request" }).waitFor();
    expect(await push.page.getByRole("checkbox", { name: /Dry run/ }).isChecked()).toBe(true);
    await push.close();
  });

  it.each(["/api/list-reports", "/api/push-till-v-2", "/api/create-accounting-config"])(
    "shows the Send button and the response without scrolling at 1440 x 900: %s",
    async (path) => {
      const { page, form, close } = await openForm(path);
      await form.getByLabel("API key").fill("not-a-key");
      const send = page.getByRole("button", { name: "Send" });
      expect(await isInViewport(page, send)).toBe(true);
      await send.click();
      const response = page.getByRole("region", { name: "Response" });
      await response.getByText("401 Unauthorized").waitFor();
      expect(await isInViewport(page, response)).toBe(true);
      expect(await isInViewport(page, response.getByText('"key_invalid"'))).toBe(true);
      expect(await page.evaluate("window.scrollY")).toBe(0);
      await close();
    },
  );

  it("opens as a dialog at 390 pixels from any place on the page", async () => {
    const { page, close } = await documentationSite.openTab("/api/push-till-v-2", {
      viewport: { width: 390, height: 844 },
    });
    await page.evaluate("window.scrollTo(0, document.body.scrollHeight / 2)");
    await page.getByRole("button", { name: "Try it" }).last().click();
    const dialog = page.getByRole("dialog", { name: "Try it" });
    await dialog.getByLabel("API key").fill("not-a-key");
    const send = dialog.getByRole("button", { name: "Send" });
    expect(await isInViewport(page, send)).toBe(true);
    await send.click();
    const response = dialog.getByRole("region", { name: "Response" });
    await response.getByText("401 Unauthorized").waitFor();
    expect(await isInViewport(page, response)).toBe(true);
    expect(await findSeriousViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await close();
  });

  it("announces that it waits, and then only the status", async () => {
    const { page, form, close } = await openForm("/api/get-own-location");
    await form.getByLabel("API key").fill(testLocation.key);
    const gate = new EventEmitter();
    // Begins to wait now, because the gate can open before the request is intercepted.
    const opened = once(gate, "open");
    await page.route("**/v1/locations/own", async (route) => {
      await opened;
      await route.continue();
    });
    await page.getByRole("button", { name: "Send" }).click();
    const status = page.getByRole("main").getByRole("status");
    await status.getByText("Waiting for a response…").waitFor();
    gate.emit("open");
    await status.getByText("200 OK").waitFor();
    expect(await status.textContent()).toMatch(/^200 OK in \d+ ms$/);
    expect(await page.locator("[aria-live] pre, [role=status] pre").count()).toBe(0);
    await close();
  });

  it("keeps the API key for the next operation, but not in the samples", async () => {
    const { page, form, close } = await openForm("/api/list-reports");
    await form.getByLabel("API key").fill(testLocation.key);
    await page.getByRole("link", { name: "List products" }).first().click();
    await page.waitForURL("**/api/list-products");
    await waitForExpression(page, `document.querySelector("input[type=password]")?.value === "${testLocation.key}"`);
    await page.getByRole("button", { name: "Code", exact: true }).click();
    await page.getByRole("tabpanel").getByText("<your key>").waitFor();
    expect(await page.locator("main").textContent()).not.toContain(testLocation.key);
    await close();
  });

  it("shows the error of a rejected request", async () => {
    const { page, form, close } = await openForm("/api/get-own-location");
    await form.getByLabel("API key").fill("not-a-key");
    await page.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response" });
    await response.getByText("401 Unauthorized").waitFor();
    expect(await response.textContent()).toContain("key_invalid");
    await close();
  });

  it("shows a stream until it is stopped", async () => {
    const { page, form, close } = await openForm("/api/stream-live-orders");
    await form.getByLabel("API key").fill(testLocation.key);
    await page.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response" });
    await response.getByText("still receiving").waitFor();
    await response.getByText("event: ready").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send" }).and(page.locator(":enabled")).waitFor();
    await close();
  });

  it("shows when the server does not respond", async () => {
    const { page, form, close } = await openForm("/api/get-health");
    await form.getByText("Server: http").click();
    await form.getByLabel("Server").fill("http://127.0.0.1:9");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/No response from http:\/\/127\.0\.0\.1:9/).waitFor();
    await close();
  });

  it.each(["/api/push-till-v-2", "/api/push-till-v-1"])(
    "pushes as a dry run with new ids until told otherwise: %s",
    async (path) => {
      const { page, form, close } = await openForm(path);
      const before = await countTills();
      await form.getByLabel("API key").fill(testLocation.key);
      const body = form.getByLabel("Body");
      // A till in the V1 format names its location.
      await body.fill((await body.inputValue()).replace(/"legacyId": \d+/, `"legacyId": ${testLocation.legacyId}`));
      const response = page.getByRole("region", { name: "Response" });
      const push = async (status: string) => {
        const requested = page.waitForRequest((request) => request.method() === "POST");
        await page.getByRole("button", { name: "Send" }).click();
        const request = await requested;
        await response.getByText(status).waitFor();
        return { url: request.url(), till: request.postData() ?? "" };
      };
      const tried = await push("200 OK");
      expect(new URL(tried.url).search).toBe("?dryRun=true");
      await response.getByText('"reconciliation"').waitFor();
      expect(await countTills()).toBe(before);
      expect(await response.getByRole("link", { name: "get the report" }).count()).toBe(0);

      await form.getByLabel("Dry run").uncheck();
      const first = await push("201 Created");
      expect(new URL(first.url).search).toBe("");
      const second = await push("201 Created");
      expect(new Set([tried.till, first.till, second.till]).size).toBe(3);
      expect(await body.inputValue()).toBe(second.till);
      expect(await countTills()).toBe(before + 2);

      // The till of the reader keeps its ids, so that it can be pushed again.
      const own = first.till.replace(/[\da-f]{8}-/i, "00000000-");
      await body.fill(own);
      expect((await push("201 Created")).till).toBe(own);
      expect((await push("200 OK")).till).toBe(own);
      // Transitions are disabled, because their intermediate colors could fail the check.
      await page.addStyleTag({ content: "*, ::before, ::after { transition: none !important; }" });
      await page.emulateMedia({ colorScheme: "light" });
      await waitForExpression(page, "document.documentElement.dataset.theme === 'light'");
      expect(await findColorViolations(page)).toEqual([]);
      const reportId = /"reportId": "([^"]+)"/.exec((await response.textContent()) ?? "")?.[1];
      const link = response.getByRole("link", { name: "get the report" });
      expect(await link.getAttribute("href")).toBe(`/api/get-report?try=true&id=${reportId}`);
      await response.getByRole("link", { name: "get the till" }).click();
      await page.getByRole("heading", { level: 1, name: "Get a till" }).waitFor();
      await page.getByRole("button", { name: "Send" }).click();
      await response.getByText("200 OK").waitFor();
      await close();
    },
  );

  it("shows the headers of the response with space around them", async () => {
    const { page, form, close } = await openForm("/api/get-own-location");
    await form.getByLabel("API key").fill(testLocation.key);
    await page.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response" });
    await response.locator("summary", { hasText: "Headers (" }).waitFor();
    const padding: number = await page.evaluate(
      `Number.parseFloat(getComputedStyle([...document.querySelectorAll("summary")]
        .find(({ textContent }) => textContent.startsWith("Headers ("))).paddingInlineStart)`,
    );
    expect(padding).toBeGreaterThanOrEqual(12);
    await close();
  });

  it("updates the samples in four languages when a parameter was typed in", async () => {
    const { page, form, close } = await openForm("/api/list-reports");
    await form.getByText("Optional parameters").click();
    await form.getByLabel("since").fill("2026-05-29");
    await page.getByRole("button", { name: "Code", exact: true }).click();
    for (const [language, part] of [
      ["curl", "curl '"],
      ["TypeScript", "await fetch("],
      ["Python", "urllib.request.Request("],
      ["PHP", "stream_context_create("],
    ] as const) {
      await page.getByRole("tab", { name: language, exact: true }).click();
      const sample = page.getByRole("tabpanel").filter({ hasText: part });
      await sample.getByText("since=2026-05-29").first().waitFor();
    }
    await close();
  });
});

describe("the page of an operation", () => {
  it("unfolds the objects around the field to which a link leads", async () => {
    const { page, close } = await documentationSite.openTab(
      "/api/push-till-v-2#body.orderList.productRowList.quantity",
    );
    await page.locator('[id="body.orderList.productRowList.quantity"]').waitFor();
    await close();
  });

  it.each(["/api/push-till-v-2", "/operators/", "/operators/create-api-key"])(
    "has no serious accessibility violations with all objects unfolded: %s",
    async (path) => {
      const { page, close } = await documentationSite.openTab(path);
      await page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })");
      expect(await findSeriousViolations(page)).toEqual([]);
      for (const width of [390, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate("document.documentElement.scrollWidth"), `at ${width}`).toBeLessThanOrEqual(width);
      }
      await close();
    },
  );
});

describe("the introduction of the reference", () => {
  it("has no footer, and offers the OpenAPI document", async () => {
    const { page, close } = await documentationSite.openTab("/api/");
    expect(await page.locator("footer.footer").count()).toBe(0);
    const downloading = page.waitForEvent("download");
    await page.getByRole("main").getByRole("link", { name: "Download the OpenAPI document" }).first().click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("pragma-openapi.json");
    expect(new URL(download.url()).pathname).toBe("/openapi.json");
    await close();
  });
});
