import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findColorViolations, findSeriousViolations } from "./check-accessibility.ts";
import {
  type DocumentationSiteUnderTest,
  startSiteInBrowser,
  type TestBrowserTab,
  waitForExpression,
  waitUntilHydrated,
} from "./documentation-site.ts";

const guides = [
  "accounting-exports",
  "e-reporting",
  "ask-your-data",
  "assistants",
  "authentication",
  "bulk-exports",
  "catalog-sync",
  "changelog",
  "changelog-operators",
  "client",
  "collections",
  "data-model",
  "console",
  "days",
  "edge-cases",
  "errors",
  "getting-started",
  "glossary",
  "idempotency",
  "jobs",
  "keep-a-copy",
  "legacy-tills",
  "metrics",
  "month-of-orders",
  "operators",
  "order-live",
  "pagination",
  "performance",
  "production",
  "push-a-till",
  "rate-limits",
  "requests",
  "sandboxes",
  "stock-from-live-orders",
  "totals-by-payment-method",
  "usage",
  "versioning",
  "webhook-events",
  "webhook-receivers",
  "webhooks",
].map((name) => `/docs/${name}`);

/** Pages that together contain every kind of page element. */
const pageKinds = ["/", "/docs/order-live", "/docs/webhook-receivers", "/api/", "/api/list-reports", "/no"];
const otherPages = [
  ...guides.filter((path) => !pageKinds.includes(path)),
  "/api/rotate-recipient-secret",
  "/api/receive-test",
  "/api/webhook-messages",
  "/operators/",
];

/**
 * Whether all pages are checked, at all widths, and all operations are shown. The soak does this, because it takes
 * several minutes.
 */
const checksAllPages = process.env.CHECK_ALL_PAGES === "true";
const checkedPages = checksAllPages ? [...pageKinds, ...otherPages] : pageKinds;
const widths = checksAllPages ? [1440, 768, 390] : [1440];

let documentationSite: DocumentationSiteUnderTest;
let routes: string[];
beforeAll(async () => {
  // The pages contain the URLs of an installation, which the server puts both into their HTML and into their scripts.
  documentationSite = await startSiteInBrowser({
    environment: { PUBLIC_URL: "https://api.bistro.example", CONSOLE_URL: "https://console.bistro.example" },
  });
  const sitemap = await (await fetch(`${documentationSite.url}/sitemap.xml`)).text();
  routes = [...sitemap.matchAll(/<loc>https?:\/\/[^/]+([^<]*)<\/loc>/g)].map(([, path = ""]) => path);
});
afterAll(() => documentationSite?.close());

describe("the site", () => {
  it("has exactly the expected routes", () => {
    const others = routes.filter((path) => !/^\/api\/[a-z0-9-]+$/.test(path)).sort();
    expect(others).toEqual(["/", "/api/", "/docs", ...guides].sort());
  });

  it("redirects /docs to the first page", async () => {
    const { page, close } = await documentationSite.openTab("/docs");
    expect(new URL(page.url()).pathname).toBe("/docs/getting-started");
    await close();
  });

  it("has one top heading on every page", async () => {
    for (const path of routes.filter((path) => path !== "/docs")) {
      const response = await fetch(`${documentationSite.url}${path}`);
      expect(response.status, path).toBe(200);
      expect([...(await response.text()).matchAll(/<h1[ >]/g)].length, path).toBe(1);
    }
  });

  it("shows operations from the sidebar without console errors", async () => {
    const { page, consoleErrors, close } = await documentationSite.openTab("/api/");
    const operations = routes.filter((path) => path.startsWith("/api/") && path !== "/api/");
    expect(operations.length).toBeGreaterThan(50);
    // Folded groups of the sidebar contain no links until they are opened.
    for (const group of await page.locator(".theme-doc-sidebar-menu .menu__list-item--collapsed > div > a").all())
      await group.click();
    for (const path of operations.filter((_, index) => checksAllPages || index % 3 === 0)) {
      // The click event is dispatched directly, because `click()` waits for animations, which would make the test slow.
      await page.locator(`.theme-doc-sidebar-menu a[href="${path}"]`).dispatchEvent("click");
      await waitForExpression(page, `location.pathname === "${path}" && document.querySelector("article h1")`);
      expect(consoleErrors, path).toEqual([]);
    }
    await close();
  }, 180_000);
});

describe("a page", () => {
  // All pages are opened in the same tab, because opening a tab for each page would take more time.
  let tab: TestBrowserTab;
  beforeAll(async () => {
    tab = await documentationSite.openTab("/");
  });
  afterAll(() => tab?.close());

  // The tests of the checked pages also check this.
  it.each(otherPages.filter((path) => !checkedPages.includes(path)))(
    "at %s logs no error when it becomes interactive",
    async (path) => {
      tab.consoleErrors.length = 0;
      await tab.page.goto(`${documentationSite.url}${path}`);
      await waitUntilHydrated(tab.page);
      expect(tab.consoleErrors).toEqual([]);
    },
  );

  it.each(checkedPages)(
    "at %s has no serious accessibility violations in both color modes at every width",
    async (path) => {
      await openPage(tab, path);
      for (const width of widths) {
        await tab.page.setViewportSize({ width, height: 900 });
        await checkBothColorModes(tab.page, `at ${width}`);
      }
    },
  );

  it.each(checkedPages)("at %s fits every width", async (path) => {
    await openPage(tab, path);
    for (const width of [390, 768, 996, 1100, 1440]) {
      await tab.page.setViewportSize({ width, height: 900 });
      expect(await tab.page.evaluate("document.documentElement.scrollWidth"), `at ${width}`).toBeLessThanOrEqual(width);
      expect(await tab.page.evaluate(findScrollingTables), `tables at ${width}`).toEqual([]);
    }
    await tab.page.setViewportSize({ width: 390, height: 900 });
    expect(await tab.page.evaluate(findScrollingCode), "code at 390").toEqual([]);
  });
});

/** A script that returns the beginning of each table of the page that is wider than the element that contains it. */
const findScrollingTables = `[...document.querySelectorAll("main table")]
  .filter((table) => table.getBoundingClientRect().right > table.parentElement.getBoundingClientRect().right + 1)
  .map(({ textContent }) => textContent.slice(0, 60))`;

/** A script that returns the beginning of all code that scrolls to the side. Only text with columns may do this. */
const findScrollingCode = `[...document.querySelectorAll("main .theme-code-block:not(.language-text) pre")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent.slice(0, 60))`;

async function openPage({ page, consoleErrors }: TestBrowserTab, path: string): Promise<void> {
  consoleErrors.length = 0;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(`${documentationSite.url}${path}`);
  await waitUntilHydrated(page);
  await waitForExpression(
    page,
    "[...document.images].every(({ complete, loading }) => complete || loading === 'lazy')",
  );
  // Transitions are disabled, because intermediate colors of a transition could fail the contrast check.
  await page.addStyleTag({ content: "*, ::before, ::after { transition: none !important; }" });
  // The browser logs an error if the status of a page is 404, which is expected for the "not found" page.
  expect(consoleErrors.filter((error) => !/status of 404/.test(error))).toEqual([]);
}

/** Checks a page in dark mode, which it must have at the beginning and has at the end, and in light mode. */
async function checkBothColorModes(page: Page, where: string): Promise<void> {
  expect(await findSeriousViolations(page), `in dark mode ${where}`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
  await waitForExpression(page, "document.documentElement.dataset.theme === 'light'");
  expect(await findColorViolations(page), `in light mode ${where}`).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await waitForExpression(page, "document.documentElement.dataset.theme === 'dark'");
}
