import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PragmaUnderTestAccess } from "../../harness/pragma-under-test.ts";
import { getSharedPragmaUnderTest } from "../../harness/shared-pragma.ts";
import { createTestAdminClient, createTestLocation, type TestLocation } from "../../harness/test-location.ts";
import { checkView } from "./check-view.ts";
import { type ConsoleUnderTest, startConsoleInBrowser } from "./console-under-test.ts";

let product: PragmaUnderTestAccess;
let testLocation: TestLocation;
let site: ConsoleUnderTest;
beforeAll(async () => {
  product = await getSharedPragmaUnderTest();
  testLocation = await createTestLocation(product, { scopes: ["reports:read"] });
  site = await startConsoleInBrowser(product.url);
}, 300_000);
afterAll(() => site?.close());

/** A response with an error status is also an error in the console of the browser. */
const isExpected = (error: string) => error.startsWith("Failed to load resource");

describe("signing in", () => {
  it("shows the sign-in page at every URL, without violations", async () => {
    await checkView(site, "/days", undefined, (page) => page.getByRole("button", { name: "Sign in" }).waitFor());
  });

  it("opens the view of the URL with a key, keeps the key for the tab only, and forgets it on signing out", async () => {
    const { page, errors, close } = await site.openView("/reports?since=2026-05-01");
    await expect.poll(() => page.evaluate("document.activeElement.name")).toBe("apiKey");
    await page.getByLabel("API key").fill(` Bearer ${testLocation.key}`);
    await page.getByLabel("API key").press("Enter");
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    expect(new URL(page.url()).search).toBe("?since=2026-05-01");
    expect(await page.evaluate("localStorage.length + document.cookie.length")).toBe(0);
    await page.reload();
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    await page.getByRole("button", { name: /^API key of/ }).press("Enter");
    const menu = page.getByRole("dialog", { name: "API key" });
    await menu.getByText("reports:read").waitFor();
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/^API key of/);
    await page.keyboard.press("Enter");
    await menu.waitFor();
    await page.getByRole("button", { name: "Sign out" }).press("Enter");
    await page.getByText("You are signed out.").waitFor();
    expect(await page.evaluate("sessionStorage.getItem('pragma.console.apiKey')")).toBeNull();
    await page.getByLabel("API key").fill(testLocation.key);
    await page.getByLabel("API key").press("Enter");
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    expect(errors).toEqual([]);
    await close();
  });

  it("states why a key is rejected, and what to do", async () => {
    const { page, close } = await site.openView("/");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Enter an API key.").waitFor();
    await page.getByLabel("API key").fill("pragma_unknown");
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "The operator of the API can give you a new key." });
    await alert.waitFor();
    expect((await alert.innerText()).match(/copied the whole key/g)).toHaveLength(1);
    await close();
  });

  it("signs out with the reason when the key is revoked", async () => {
    const other = await createTestLocation(product, { scopes: ["reports:read"] });
    const { page, errors, close } = await site.openView("/reports", { apiKey: other.key });
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    const admin = createTestAdminClient(product);
    const { data: keys } = await admin.GET("/v1/auth/keys", { params: { query: { locationId: other.locationId } } });
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id: keys.data[0]?.id ?? "" } } });
    await expect.poll(async () => (await other.request("GET", "/v2/reports")).status, { timeout: 15_000 }).toBe(401);
    await page.getByRole("link", { name: "Days" }).click();
    await page.getByText("You were signed out:").waitFor();
    expect(errors.filter((error) => !isExpected(error))).toEqual([]);
    await close();
  });

  it("shows only the views that the scopes allow, and names the missing scope of another", async () => {
    const { page, close } = await site.openView("/webhooks", { apiKey: testLocation.key });
    await page.getByText("It needs the scope webhooks:write.").waitFor();
    const links = page.getByRole("navigation", { name: "Views" }).getByRole("link");
    expect(await links.allTextContents()).toEqual(["Home", "Days", "Reports", "Metrics", "Exports", "Keys"]);
    await close();
  });

  it("states that the API does not respond, and reads the view again when it does", async () => {
    const { page, close } = await site.openView("/reports", { apiKey: testLocation.key });
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    await page.route(`${product.url}/**`, (route) => route.abort());
    await page.getByRole("link", { name: "Keys" }).click();
    const notice = page.getByRole("alert").filter({ hasText: "What you see can be outdated." });
    await notice.waitFor({ timeout: 15_000 });
    await page.unroute(`${product.url}/**`);
    await notice.waitFor({ state: "detached", timeout: 20_000 });
    await page.getByText("Europe/Paris", { exact: true }).waitFor();
    await close();
  });

  it("moves the focus to the content with the skip link, and to each new view", async () => {
    const { page, close } = await site.openView("/days", { apiKey: testLocation.key });
    await page.getByRole("heading", { name: "Days", level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await page.getByRole("link", { name: "Reports" }).press("Enter");
    await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await close();
  });

  it("never shows data of one key after another signed in", async () => {
    const other = await createTestLocation(product, { scopes: ["reports:read", "locations:read"] });
    const { page, close } = await site.openView("/", { apiKey: testLocation.key });
    await page.getByRole("button", { name: /^API key of/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.headers().authorization ?? ""));
    await page.getByLabel("API key").fill(other.key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
    await page.getByText("No till has been pushed yet.").waitFor();
    expect(new Set(requests.filter(Boolean))).toEqual(new Set([`Bearer ${other.key}`]));
    await close();
  });
});
