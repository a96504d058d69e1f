import { generateTill } from "@pragma/simulator/generate-till";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../harness/shared-pragma.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { type DocumentationSiteUnderTest, startDocumentationSiteWithBrowser } from "./documentation-site.ts";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product);
  await testLocation.pushTillWithRetries(generateTill({ seed: "try it", orders: 3, day: "2026-05-29" }));
  await testLocation.waitForReports(1);
  // The form sends requests to the default address of the gateway, so the browser maps this address to the tested one.
  documentationSite = await startDocumentationSiteWithBrowser({
    flags: [`--host-resolver-rules=MAP 127.0.0.1:4000 ${new URL(product.url).host}`],
  });
}, 120_000);
afterAll(() => documentationSite?.close());

describe("the form beside an operation", () => {
  it("sends a request with the API key that was typed in, and shows the response", async () => {
    const { page, close } = await documentationSite.openTab("/api/list-reports");
    const form = page.getByRole("form", { name: "Try it" });
    await form.getByLabel("API key").fill(testLocation.key);
    await form.getByLabel("size").fill("1");
    await form.getByRole("button", { name: "Send" }).click();
    const response = page.getByRole("region", { name: "Response" });
    await response.getByText("200 OK").waitFor();
    expect(await response.textContent()).toContain('"totalSales"');
    expect(await response.textContent()).toContain('"pageSize": 1');
    await close();
  });

  it("keeps the API key for the next operation, but not in the samples", async () => {
    const { page, close } = await documentationSite.openTab("/api/list-reports");
    await page.getByLabel("API key").fill(testLocation.key);
    await page.getByRole("link", { name: "List products" }).first().click();
    await page.waitForURL("**/api/list-products");
    expect(await page.getByLabel("API key").inputValue()).toBe(testLocation.key);
    expect(await page.locator("main").textContent()).not.toContain(testLocation.key);
    await close();
  });

  it("shows the error of a rejected request", async () => {
    const { page, close } = await documentationSite.openTab("/api/get-own-location");
    await page.getByLabel("API key").fill("not-a-key");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("401 Unauthorized").waitFor();
    expect(await page.getByRole("region", { name: "Response" }).textContent()).toContain("key_invalid");
    await close();
  });

  it("shows a stream until it is stopped", async () => {
    const { page, close } = await documentationSite.openTab("/api/stream-live-orders");
    await page.getByLabel("API key").fill(testLocation.key);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("region", { name: "Response" }).getByText("event: ready").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send" }).and(page.locator(":enabled")).waitFor();
    await close();
  });

  it("shows when the server does not respond", async () => {
    const { page, close } = await documentationSite.openTab("/api/get-health");
    await page.getByLabel("Server").fill("http://127.0.0.1:9");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/No response from http:\/\/127\.0\.0\.1:9/).waitFor();
    await close();
  });

  it("updates the samples in four languages while a parameter is typed in", async () => {
    const { page, close } = await documentationSite.openTab("/api/list-reports");
    await page.getByLabel("since").fill("2026-05-29");
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

describe("the introduction of the reference", () => {
  it("has no footer, and offers the OpenAPI document", async () => {
    const { page, close } = await documentationSite.openTab("/api/");
    expect(await page.locator("footer.footer").count()).toBe(0);
    const downloading = page.waitForEvent("download");
    await page.getByRole("main").getByRole("link", { name: "Download the OpenAPI document" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("pragma-openapi.json");
    expect(new URL(download.url()).pathname).toBe("/openapi.json");
    await close();
  });
});
