import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findSeriousViolations } from "./check-accessibility.ts";
import {
  type DocumentationSiteUnderTest,
  startSiteInBrowser,
  type TestBrowserTab,
  waitForExpression,
} from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

const searchField = "input[data-search-field]";

/** Opens a page and types into the search field. Resolves when the results are shown. */
async function openTabAndSearch(
  query: string,
  options: Parameters<DocumentationSiteUnderTest["openTab"]>[1] = {},
): Promise<TestBrowserTab> {
  const tab = await documentationSite.openTab("/", options);
  await tab.page.keyboard.press("Control+k");
  await tab.page.locator(searchField).pressSequentially(query);
  await tab.page.getByRole("option").first().waitFor();
  return tab;
}

describe("the search", () => {
  it("leads to a field on a reference page and shows the field", async () => {
    const { page, close } = await openTabAndSearch("deviceList");
    await page.locator(searchField).press("Enter");
    await page.waitForURL(({ pathname, hash }) => pathname === "/api/get-own-location" && hash.endsWith("deviceList"));
    const field = page.locator(".revealed-field");
    await field.waitFor();
    expect(await field.textContent()).toContain("deviceList");
    await waitForExpression(
      page,
      "(({ top }) => top >= 0 && top < innerHeight)(document.querySelector('.revealed-field').getBoundingClientRect())",
    );
    await close();
  });

  it("is operated with the arrow keys, and names the selected result", async () => {
    const { page, close } = await openTabAndSearch("webhook");
    const field = page.locator(searchField);
    const selected = () => page.getByRole("option", { selected: true });
    const first = await selected().textContent();
    await field.press("ArrowDown");
    expect(await selected().textContent()).not.toBe(first);
    expect(await field.getAttribute("aria-activedescendant")).toBe(await selected().getAttribute("id"));
    const href = await selected().getAttribute("href");
    await field.press("Enter");
    await page.waitForURL((url) => `${url.pathname}${url.hash}` === href);
    await close();
  });

  it("keeps the focus and the text while the results load, and returns the focus with Escape", async () => {
    const { page, close } = await documentationSite.openTab("/docs/webhooks", { hasOwnCache: true });
    const link = page.locator("article a").first();
    await link.focus();
    await page.keyboard.press("Control+k");
    const field = page.locator(searchField);
    await field.pressSequentially("sand");
    await field.press("Home");
    await field.pressSequentially("x");
    expect(await field.inputValue()).toBe("xsand");
    expect(await page.evaluate(`document.activeElement === document.querySelector("${searchField}")`)).toBe(true);
    for (let presses = 0; presses < 2; presses++) await field.press("Escape");
    await waitForExpression(page, `document.activeElement !== document.querySelector("${searchField}")`);
    await close();
  });

  it.each([
    ["dark", 1440],
    ["light", 1440],
    ["dark", 390],
    ["light", 390],
  ] as const)("is accessible in %s mode at %d pixels", async (colorScheme, width) => {
    const { page, close } = await openTabAndSearch("webhook", { colorScheme, viewport: { width, height: 800 } });
    expect(await findSeriousViolations(page)).toEqual([]);
    const fits = "document.documentElement.scrollWidth <= innerWidth";
    expect(await page.evaluate(fits)).toBe(true);
    await close();
  });

  it("says when nothing is found", async () => {
    const { page, close } = await documentationSite.openTab("/");
    await page.keyboard.press("Control+k");
    await page.locator(searchField).pressSequentially("xylophone");
    await page.getByText("No results for “xylophone”").waitFor();
    await close();
  });
});

describe("the menu Copy page", () => {
  it.each(["/docs/webhooks", "/api/list-reports"])("of %s copies and opens the Markdown copy", async (path) => {
    const { page, context, close } = await documentationSite.openTab(path, { hasOwnCache: true });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const menu = page.locator("details", { hasText: "Copy as Markdown" });
    await menu.locator("summary").click();
    expect(await findSeriousViolations(page)).toEqual([]);
    expect(await menu.getByRole("link", { name: "View as Markdown" }).getAttribute("href")).toBe(`${path}.md`);
    await menu.getByRole("button", { name: "Copy as Markdown" }).click();
    await menu.getByText("Copied").first().waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(copied).toBe(await (await fetch(`${documentationSite.url}${path}.md`)).text());
    await close();
  });
});
