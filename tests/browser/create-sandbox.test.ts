import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFreePort } from "../../deploy/local/free-port.js";
import { type PragmaUnderTest, startPragmaUnderTest } from "../harness/pragma-under-test.ts";
import { findSeriousViolations } from "./check-accessibility.ts";
import { type DocumentationSiteUnderTest, startSiteInBrowser } from "./documentation-site.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...{ SANDBOXES: "on", SANDBOX_INBOX_PORT: String(await findFreePort()) },
    ...{ MAX_SANDBOXES: "1", CORS_ORIGINS: "*" },
  });
  product = await startPragmaUnderTest(environment.variables);
  documentationSite = await startSiteInBrowser({
    flags: [`--host-resolver-rules=MAP 127.0.0.1:4000 ${new URL(product.url).host}`],
    environment: { CONSOLE_URL: "https://console.bistro.example" },
  });
}, 300_000);
afterAll(async () => {
  await documentationSite?.close();
  await product?.stop();
  await environment?.remove();
});

const maxSecondsToFirstReport = 60;

it("leads from the page to the first report within a minute, with the key in samples and forms", async () => {
  const { page, consoleErrors, close } = await documentationSite.openTab("/docs/getting-started", {
    hasOwnCache: true,
  });
  const sample = page.getByRole("tabpanel").first();
  expect(await sample.textContent()).toContain("Bearer <your key>");
  const startedAt = performance.now();
  const sandbox = page.getByRole("region", { name: "Sandbox" });
  await sandbox.getByRole("button", { name: "Create a sandbox" }).click();
  await sandbox.getByText(/^The newest report: €[\d,.]+ on /).waitFor({ timeout: maxSecondsToFirstReport * 1_000 });
  expect(performance.now() - startedAt).toBeLessThan(maxSecondsToFirstReport * 1_000);
  const key = (await sandbox.getByText(/^pragma_/).textContent()) ?? "";
  expect(await sample.textContent()).toContain(`Bearer ${key}`);
  expect(await findSeriousViolations(page)).toEqual([]);

  await page.reload();
  await sandbox.getByText(/^The newest report: /).waitFor();
  expect(await sandbox.getByText(/^pragma_/).textContent()).toBe(key);
  expect(await sandbox.getByRole("button", { name: "Create a sandbox" }).count()).toBe(0);
  expect(await sandbox.getByText(/kept only in this browser tab/).count()).toBe(1);
  expect(await sample.textContent()).toContain(`Bearer ${key}`);
  await page.evaluate("navigator.clipboard.writeText = async (text) => { window.copiedText = text; }");
  await sandbox.getByRole("button", { name: "Copy key" }).click();
  await sandbox.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("window.copiedText")).toBe(key);
  const consoleLink = sandbox.getByRole("link", { name: /^open the console/ });
  expect(await consoleLink.getAttribute("href")).toBe("https://console.bistro.example");
  expect(await consoleLink.getAttribute("target")).toBe("_blank");

  await page.getByRole("link", { name: "list the reports" }).click();
  await page.getByRole("button", { name: "Try it" }).click();
  expect(await page.getByLabel("API key").inputValue()).toBe(key);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("region", { name: "Response" }).getByText("200 OK").waitFor();
  expect(consoleErrors).toEqual([]);
  await close();
});

it("offers another sandbox once that of the tab was deleted", async () => {
  const { page, close } = await documentationSite.openTab("/docs/getting-started", { hasOwnCache: true });
  const deleted = {
    ...{ server: "http://127.0.0.1:4000", apiKey: "pragma_deleted" },
    ...{ createdAt: "2026-01-01T00:00:00Z", expiresAt: "2999-01-01T00:00:00Z" },
    location: { name: "Bistro", currencyCode: "EUR" },
  };
  await page.evaluate(`sessionStorage.setItem("pragma-sandbox", ${JSON.stringify(JSON.stringify(deleted))})`);
  await page.reload();
  const sandbox = page.getByRole("region", { name: "Sandbox" });
  await sandbox.getByText(/no longer exists/).waitFor();
  await sandbox.getByRole("button", { name: "Create a sandbox" }).waitFor();
  await close();
});

it("says why no sandbox can be created", async () => {
  const { page, close } = await documentationSite.openTab("/docs/getting-started", { hasOwnCache: true });
  const sandbox = page.getByRole("region", { name: "Sandbox" });
  await sandbox.getByRole("button", { name: "Create a sandbox" }).click();
  expect(await sandbox.getByRole("alert").textContent()).toContain("There are 1 sandboxes, which is the maximum");
  await close();
});
