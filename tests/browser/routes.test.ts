import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findColorAccessibilityViolations, findSeriousAccessibilityViolations } from "./check-accessibility.ts";
import {
  type DocumentationSiteUnderTest,
  startDocumentationSiteWithBrowser,
  type TestBrowserTab,
  waitUntilHydrated,
} from "./documentation-site.ts";

const guides = ["getting-started", "authentication", "edge-cases", "order-live", "requests", "webhooks"].map(
  (name) => `/docs/${name}`,
);

/** The pages whose accessibility is checked. Together, they contain every kind of page element. */
const checkedPages = [
  "/",
  ...guides,
  "/api/",
  "/api/list-reports",
  "/api/rotate-recipient-secret",
  "/api/receive-test",
  "/no",
];

let documentationSite: DocumentationSiteUnderTest;
let routes: string[];
beforeAll(async () => {
  documentationSite = await startDocumentationSiteWithBrowser();
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

  it("shows each operation from the sidebar without console errors", async () => {
    const { page, consoleErrors, close } = await documentationSite.openTab("/api/");
    const operations = routes.filter((path) => path.startsWith("/api/") && path !== "/api/");
    expect(operations.length).toBeGreaterThan(50);
    // Folded groups of the sidebar contain no links until they are opened.
    for (const group of await page.locator(".theme-doc-sidebar-menu .menu__list-item--collapsed > div > a").all())
      await group.click();
    for (const path of operations) {
      // The click event is dispatched directly, because `click()` waits for animations, which would make the test slow.
      await page.locator(`.theme-doc-sidebar-menu a[href="${path}"]`).dispatchEvent("click");
      await page.waitForFunction(`location.pathname === "${path}" && document.querySelector("article h1")`);
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

  it.each(checkedPages)(
    "at %s has no serious accessibility violations in both color modes and at every width",
    async (path) => {
      const { page, consoleErrors } = tab;
      consoleErrors.length = 0;
      await page.emulateMedia({ colorScheme: "dark" });
      await page.goto(`${documentationSite.url}${path}`);
      await waitUntilHydrated(page);
      await page.waitForFunction(
        "[...document.images].every(({ complete, loading }) => complete || loading === 'lazy')",
      );
      // Transitions are disabled, because intermediate colors of a transition could fail the contrast check.
      await page.addStyleTag({ content: "*, ::before, ::after { transition: none !important; }" });
      // The browser logs an error if the status of a page is 404, which is expected for the "not found" page.
      expect(consoleErrors.filter((error) => !/status of 404/.test(error))).toEqual([]);
      expect(await findSeriousAccessibilityViolations(page), "in dark mode").toEqual([]);
      await page.emulateMedia({ colorScheme: "light" });
      await page.waitForFunction("document.documentElement.dataset.theme === 'light'");
      expect(await findColorAccessibilityViolations(page), "in light mode").toEqual([]);
      for (const width of [390, 996, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate("document.documentElement.scrollWidth"), `at ${width}`).toBeLessThanOrEqual(width);
      }
    },
  );
});
