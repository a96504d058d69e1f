import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type DocumentationSiteUnderTest,
  startSiteInBrowser,
  waitForExpression,
  waitUntilHydrated,
} from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

/** Matches the paths of scripts that only some pages load. */
const pageScripts = /\/assets\/js\/[^/]+\/(?!main|runtime)[^/]+\.js$/;

describe("a page that throws", () => {
  it("shows that it crashed, and loads after a retry", async () => {
    // A page without amounts: one with amounts could crash itself, before the home page replaces it.
    const { page, consoleErrors, close } = await documentationSite.openTab("/docs/authentication");
    await page.evaluate(`Object.defineProperty(Intl.NumberFormat.prototype, "format", {
      configurable: true, get() { if (window.isBroken) throw new Error("broken on purpose"); return () => "1.00"; }
    }); window.isBroken = true;`);
    await page.locator(".navbar__brand").click();
    await page.getByText("This page crashed").waitFor();
    expect(consoleErrors.join("\n")).toContain("broken on purpose");
    await page.evaluate("window.isBroken = false");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Sales by hour" }).last().waitFor();
    await close();
  });
});

describe("a page with a script that does not load", () => {
  it("is loaded with a full navigation when it is the next page", async () => {
    const { page, close } = await documentationSite.openTab("/", { hasOwnCache: true });
    await page.evaluate("window.isFirstPage = true");
    await page.route(pageScripts, (route) => route.abort());
    const loaded = page.waitForEvent("load");
    await page.locator("nav.navbar").getByRole("link", { name: "Docs", exact: true }).click();
    await loaded;
    expect(page.url()).toContain("/docs/getting-started");
    expect(await page.evaluate("window.isFirstPage")).toBeUndefined();
    await close();
  });

  it("shows the error and a retry button when it is the first page", async () => {
    const { page, close } = await documentationSite.openTab("/", { hasOwnCache: true });
    await page.route(pageScripts, (route) => route.abort());
    await page.goto(`${documentationSite.url}/docs/authentication`);
    const notice = page.getByRole("alert");
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/did not load.*chunk/i);
    // The page is readable without its script, because its content is prerendered.
    expect(await page.locator("h1").textContent()).toBe("Authentication");
    await page.unroute(pageScripts);
    await notice.getByRole("button", { name: "Retry" }).click();
    await waitUntilHydrated(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    await close();
  });

  it.each([
    ["is opened with an anchor", "/docs/authentication#replace-a-key"],
    ["was scrolled before it is loaded again", "/docs/authentication"],
  ])("shows the notice within the window when the page %s", async (_, path) => {
    const { page, close } = await documentationSite.openTab("/docs/authentication", { hasOwnCache: true });
    await page.evaluate("window.scrollTo(0, 69)");
    await page.route(pageScripts, (route) => route.abort());
    // A full load of the page, which keeps the position of the page that is loaded again.
    if (path.includes("#")) await page.goto("about:blank").then(() => page.goto(`${documentationSite.url}${path}`));
    else await page.reload();
    const notice = page.getByRole("alert");
    await notice.waitFor();
    await waitForExpression(page, "window.scrollY > 0");
    const { y, height } = (await notice.boundingBox()) ?? { y: -1, height: 0 };
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(900);
    // Nothing covers the button.
    await notice.getByRole("button", { name: "Retry" }).click({ trial: true });
    await close();
  });

  it("shows a progress bar while it loads", async () => {
    const { page, close } = await documentationSite.openTab("/", { hasOwnCache: true });
    await page.route(pageScripts, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.continue();
    });
    await page.locator("nav.navbar").getByRole("link", { name: "API", exact: true }).click();
    await page.locator("#nprogress .bar").waitFor();
    await page.waitForURL("**/api/");
    await page.getByRole("heading", { name: "Pragma API" }).waitFor();
    await close();
  });
});

describe("a site at another URL than it was built for", () => {
  it("shows that it did not load properly", async () => {
    const { page, close } = await documentationSite.openTab("/", { hasOwnCache: true });
    await page.route("**/assets/**", (route) => route.abort());
    await page.reload();
    await page.getByText("did not load properly").waitFor();
    await close();
  });
});

describe("pages that a visitor may open next", () => {
  const prefetched = "document.querySelectorAll('link[rel=prefetch]').length";
  const connection = (value: object) =>
    `Object.defineProperty(navigator, "connection", { get: () => (${JSON.stringify(value)}) })`;

  it.each([
    ["on 2g", { effectiveType: "2g", saveData: false }],
    ["with data saving on", { effectiveType: "4g", saveData: true }],
  ])("are not prefetched %s", async (_, value) => {
    const { page, context, close } = await documentationSite.openTab("/no", { hasOwnCache: true });
    await context.addInitScript(connection(value));
    await page.goto(`${documentationSite.url}/`);
    await waitUntilHydrated(page);
    await page.locator("main a").first().hover();
    await page.waitForTimeout(500);
    expect(await page.evaluate(prefetched)).toBe(0);
    await close();
  });

  it("are prefetched on a fast connection", async () => {
    const { page, context, close } = await documentationSite.openTab("/no", { hasOwnCache: true });
    await context.addInitScript(connection({ effectiveType: "4g", saveData: false }));
    await page.goto(`${documentationSite.url}/`);
    await waitUntilHydrated(page);
    await waitForExpression(page, `${prefetched} > 0`);
    await close();
  });
});
