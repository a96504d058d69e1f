import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentationSiteUnderTest, startSiteInBrowser, waitForExpression } from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

const mode = "document.documentElement.dataset.theme";

describe("the navbar", () => {
  it("links to the guides, the reference and the company", async () => {
    const { page, close } = await documentationSite.openTab("/");
    const navbar = page.locator("nav.navbar");
    await navbar.getByRole("link", { name: "Docs", exact: true }).click();
    await page.waitForURL("**/docs/getting-started");
    await navbar.getByRole("link", { name: "API", exact: true }).click();
    await page.waitForURL("**/api/");
    await page.locator('meta[name=description][content="API Reference for Pragma"]').waitFor({ state: "attached" });
    const company = navbar.getByRole("link", { name: "Pragma", exact: false }).last();
    expect(await company.getAttribute("href")).toMatch(/^https:/);
    await close();
  });

  it("offers English as the only language", async () => {
    const { page, close } = await documentationSite.openTab("/");
    await page.locator("nav.navbar").getByRole("button", { name: "English" }).hover();
    const languages = page.locator("nav.navbar .dropdown__menu a");
    expect(await languages.allTextContents()).toEqual(["English"]);
    await close();
  });

  it("is a menu with the pages of the guides at 390 pixels", async () => {
    const { page, close } = await documentationSite.openTab("/docs/requests", {
      viewport: { width: 390, height: 800 },
    });
    await page.getByRole("button", { name: "Toggle navigation bar" }).click();
    const menu = page.locator(".navbar-sidebar");
    await menu.locator('a[href="/docs/webhooks"]').click();
    await page.waitForURL("**/docs/webhooks");
    await waitForExpression(page, "!document.querySelector('.navbar-sidebar--show')");
    await close();
  });

  it.each([996, 997])("changes its layout above 996 pixels: %d", async (width) => {
    const { page, close } = await documentationSite.openTab("/docs/requests", { viewport: { width, height: 800 } });
    const isMobile = await page.getByRole("button", { name: "Toggle navigation bar" }).isVisible();
    expect(isMobile).toBe(width === 996);
    await close();
  });

  it("can be skipped with the keyboard", async () => {
    const { page, close } = await documentationSite.openTab("/docs/requests");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to main content");
    await page.keyboard.press("Enter");
    await waitForExpression(page, "document.activeElement.contains(document.querySelector('h1'))");
    await close();
  });
});

describe("the color mode", () => {
  it("follows the system", async () => {
    for (const [colorScheme, theme] of [
      ["light", "light"],
      ["dark", "dark"],
      ["no-preference", "light"],
    ] as const) {
      const { page, close } = await documentationSite.openTab("/", { colorScheme });
      // Without a preference of the user, browsers report "light", so the page is expected to be light.
      expect(await page.evaluate(mode), colorScheme).toBe(theme);
      await close();
    }
    const markup = await (await fetch(`${documentationSite.url}/`)).text();
    expect(markup).toContain('"dark"');
  });

  it("is changed with the toggle, and persists after a reload", async () => {
    const { page, close } = await documentationSite.openTab("/", { colorScheme: "dark" });
    const toggle = page.getByRole("button", { name: /Switch between dark and light mode/ });
    for (let clicks = 0; clicks < 3 && (await page.evaluate(mode)) !== "light"; clicks++) await toggle.click();
    expect(await page.evaluate(mode)).toBe("light");
    await page.reload();
    expect(await page.evaluate(mode)).toBe("light");
    await close();
  });
});

describe("a page of the guides", () => {
  it("has an open sidebar, a table of contents with two levels, and a footer", async () => {
    const { page, close } = await documentationSite.openTab("/docs/order-live");
    const sidebar = page.locator("aside .theme-doc-sidebar-menu");
    expect(await sidebar.getByRole("link").count()).toBeGreaterThanOrEqual(6);
    expect(await page.locator(".menu__list-item--collapsed").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Collapse sidebar" }).count()).toBe(0);
    const contents: string[] = await page.evaluate(
      "[...document.querySelectorAll('.table-of-contents a')].map((link) => document.querySelector(link.hash).tagName)",
    );
    expect(new Set(contents)).toEqual(new Set(["H2", "H3"]));
    const footer = page.locator("footer.footer");
    expect(await footer.textContent()).toContain(String(new Date().getFullYear()));
    expect(await footer.getByRole("link").getAttribute("href")).toMatch(/^mailto:.+@/);
    await close();
  });

  it("shows diagrams in the color mode of the page, with a text alternative", async () => {
    const { page, close } = await documentationSite.openTab("/docs/order-live");
    const diagram = page.getByRole("img", { name: /^Lifecycle of a live order\./ });
    await diagram.scrollIntoViewIfNeeded();
    for (const [colorScheme, drawing] of [
      ["dark", "/diagrams/order-life.dark.svg"],
      ["light", "/diagrams/order-life.light.svg"],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`figure img[src="${drawing}"]`).waitFor();
      await waitForExpression(
        page,
        `(({ complete, naturalWidth }) => complete && naturalWidth > 0)(document.querySelector('img[src="${drawing}"]'))`,
      );
    }
    await close();
  });

  it.each([1440, 996, 768, 390])("begins with its title, which nothing covers, at %d pixels", async (width) => {
    const { page, close } = await documentationSite.openTab("/docs/getting-started", {
      viewport: { width, height: 900 },
    });
    const boxes: { top: number; bottom: number; left: number; right: number }[] = await page.evaluate(
      `["h1", "summary", ".theme-doc-toc-mobile"].map((selector) => {
        const { top, bottom, left, right } = document.querySelector("article " + selector).getBoundingClientRect();
        return { top, bottom, left, right };
      })`,
    );
    const [title, menu, contents] = boxes;
    if (!title || !menu || !contents) throw new Error("The page has no title, menu or table of contents.");
    expect(menu.left >= title.right || menu.top >= title.bottom).toBe(true);
    // On wide screens, the contents are beside the text.
    const isAbove = contents.bottom > contents.top;
    expect(isAbove).toBe(width < 1280);
    if (!isAbove) return close();
    expect(title.bottom).toBeLessThanOrEqual(contents.top);
    // On phones, the menu is at the right of the contents.
    expect(menu.bottom <= contents.top || menu.left >= contents.right).toBe(true);
    await close();
  });

  it.each(["/docs/changelog", "/api/receive-order-paid"])(
    "has a visible item in the sidebar, and is not scrolled: %s",
    async (path) => {
      const { page, close } = await documentationSite.openTab(path);
      await waitForExpression(
        page,
        `(({ top, bottom }) => top > 0 && bottom < innerHeight)(
          document.querySelector("aside .menu__link--active:not(.menu__link--sublist)").getBoundingClientRect()
        )`,
      );
      expect(await page.evaluate("scrollY")).toBe(0);
      expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
      await close();
    },
  );

  it("stores which version of the documentation was read", async () => {
    const { page, close } = await documentationSite.openTab("/docs/requests");
    await waitForExpression(page, "localStorage.getItem('docs-preferred-version-default') === 'current'");
    await close();
  });

  it("has an anchor for every error code", async () => {
    const { page, close } = await documentationSite.openTab("/docs/errors#rate_limited");
    expect(await page.locator("#rate_limited").textContent()).toContain("rate_limited");
    await close();
  });
});

describe("an unknown page", () => {
  it("returns 404 with the title Page Not Found", async () => {
    expect((await fetch(`${documentationSite.url}/docs/nowhere`)).status).toBe(404);
    const { page, close } = await documentationSite.openTab("/docs/nowhere");
    expect(await page.locator("h1").textContent()).toBe("Page Not Found");
    await close();
  });

  it("searches for the words of its address", async () => {
    const { page, close } = await documentationSite.openTab("/docs/web-hooks");
    const main = page.locator("main");
    expect(await main.getByLabel("Search the documentation").inputValue()).toBe("web hooks");
    await main.getByLabel("Search the documentation").fill("webhooks");
    await main.getByRole("button", { name: "Search" }).click();
    const input = page.locator("input.navbar__search-input");
    expect(await input.inputValue()).toBe("webhooks");
    expect(await page.evaluate("document.activeElement.matches('.navbar__search-input')")).toBe(true);
    await page.getByRole("option").first().waitFor();
    await close();
  });
});

describe("files for programs", () => {
  it("include the OpenAPI document, llms.txt and a Markdown copy of each page", async () => {
    const read = async (path: string) => {
      const response = await fetch(`${documentationSite.url}${path}`);
      expect(response.status, path).toBe(200);
      return response.text();
    };
    expect(JSON.parse(await read("/openapi.json"))).toMatchObject({ openapi: "3.1.0" });
    expect(JSON.parse(await read("/asyncapi.json"))).toMatchObject({ asyncapi: "3.0.0" });
    const index = await read("/llms.txt");
    const copies = [...index.matchAll(/\(https?:\/\/[^/]+([^)]+\.md)\)/g)].map(([, path = ""]) => path);
    expect(copies.length).toBeGreaterThan(50);
    for (const path of copies) expect(await read(path), path).toMatch(/^# \S/);
    expect(await read("/docs/errors.md")).toMatch(/^#+ `?rate_limited/m);
    expect((await fetch(`${documentationSite.url}/favicon.ico`)).status).toBe(200);
  });
});
