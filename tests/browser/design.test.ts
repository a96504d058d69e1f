import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocumentationSiteUnderTest, startSiteInBrowser, waitForExpression } from "./documentation-site.ts";

let documentationSite: DocumentationSiteUnderTest;
beforeAll(async () => {
  documentationSite = await startSiteInBrowser();
});
afterAll(() => documentationSite?.close());

async function getBox(locator: Locator) {
  const box = await locator.boundingBox();
  if (box === null) throw new Error("The element is not visible.");
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
}

describe("an example in a guide", () => {
  it.each([1920, 1440, 1280, 1024])(
    "at %d pixels has the width of its column, and a line of text has 70 to 85 characters",
    async (width) => {
      const { page, close } = await documentationSite.openTab("/docs/webhooks", { viewport: { width, height: 900 } });
      const column = await getBox(page.locator(".theme-doc-markdown"));
      for (const wide of [".exchange", "table"])
        expect((await getBox(page.locator(`.theme-doc-markdown > ${wide}`).first())).width).toBeCloseTo(
          column.width,
          0,
        );
      // The longest line of the paragraphs, in characters of average width.
      const characters: number = await page.evaluate(measureLineLength);
      expect(characters).toBeGreaterThanOrEqual(70);
      expect(characters).toBeLessThanOrEqual(85);
      // The column and the table of contents beside it use most of the space beside the sidebar.
      const contents = page.locator(".theme-doc-toc-desktop");
      if (width >= 1280) {
        const { x } = await getBox(contents);
        expect(x - column.right).toBeLessThan(80);
      } else expect(await contents.isVisible()).toBe(false);
      if (width <= 1440) expect(column.width + (width >= 1280 ? 240 : 0)).toBeGreaterThan(0.85 * (width - 272));
      await close();
    },
  );

  it("has its request and its response in one card", async () => {
    const { page, close } = await documentationSite.openTab("/docs/getting-started");
    const card = page.locator(".exchange").first();
    const request = await getBox(card.locator(".tabs-container"));
    const response = await getBox(card.locator(":scope > .theme-code-block"));
    expect(Math.abs(response.y - request.bottom)).toBeLessThan(2);
    await close();
  });

  it("has the language that was selected last on any page", async () => {
    const { page, close } = await documentationSite.openTab("/");
    await page.getByRole("tab", { name: "Python" }).first().click();
    await page.goto(`${documentationSite.url}/docs/webhooks`);
    await waitForExpression(
      page,
      `[...document.querySelectorAll('.exchange [role=tab][aria-selected=true]')].length > 0 &&
       [...document.querySelectorAll('.exchange [role=tab][aria-selected=true]')].every(({ textContent }) => textContent === "Python")`,
    );
    await close();
  });
});

/** A script that returns the average number of characters in a line of the long paragraphs without code. */
const measureLineLength = `(() => {
  const paragraphs = [...document.querySelectorAll(".theme-doc-markdown > p:not(:has(code))")];
  const lines = paragraphs.map((paragraph) =>
    Math.round(paragraph.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(paragraph).lineHeight)));
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const isLong = (_, index) => lines[index] >= 3;
  // The last line of a paragraph is half full on average.
  return sum(paragraphs.filter(isLong).map(({ textContent }) => textContent.length)) /
    sum(lines.filter(isLong).map((count) => count - 0.5));
})()`;

describe("code", () => {
  it.each([
    [1440, "/docs/webhook-receivers"],
    [390, "/docs/webhook-receivers"],
    [390, "/docs/client"],
    [390, "/docs/totals-by-payment-method"],
  ])("at %d pixels on %s is not covered by the copy buttons", async (width, path) => {
    const { page, close } = await documentationSite.openTab(path, { viewport: { width, height: 900 } });
    expect(await page.evaluate(findCoveredCode)).toEqual([]);
    await close();
  });

  it("that is long is cut until the button below it is pressed", async () => {
    const { page, close } = await documentationSite.openTab("/docs/order-live");
    const block = page.locator(".theme-code-block:has(.cut-code-toggle)").first();
    const button = block.locator(".cut-code-toggle");
    const { height } = await getBox(block);
    expect(await button.textContent()).toMatch(/^Show all \d+ lines$/);
    await button.press("Enter");
    expect(await button.getAttribute("aria-expanded")).toBe("true");
    expect((await getBox(block)).height).toBeGreaterThan(height + 100);
    await button.press("Enter");
    expect((await getBox(block)).height).toBe(height);
    await expect.poll(async () => (await getBox(block)).y).toBeGreaterThan(60);
    await close();
  });

  it("that wraps keeps its indentation", async () => {
    const { page, close } = await documentationSite.openTab("/docs/order-live", {
      viewport: { width: 390, height: 900 },
    });
    expect(await page.evaluate(findOutdentedLines)).toEqual([]);
    await close();
  });
});

/** A script that returns the beginning of each text of code that is below a copy button. */
const findCoveredCode = `[...document.querySelectorAll(".theme-code-block")].flatMap((block) => {
  const button = block.querySelector("[class*=buttonGroup]").getBoundingClientRect();
  const frame = block.querySelector("pre").getBoundingClientRect();
  const range = document.createRange();
  return [...block.querySelectorAll(".token-line > span")].filter((token) => {
    range.selectNodeContents(token);
    return token.textContent.trim() !== "" && [...range.getClientRects()].some(({ left, right, top, bottom }) =>
      left < button.right && Math.min(right, frame.right) > button.left + 1 &&
      top < button.bottom - 1 && bottom > button.top + 1);
  }).map(({ textContent }) => textContent.slice(0, 60));
})`;

/** A script that returns each line of JSON, part of which is to the left of the first word of the line. */
const findOutdentedLines = `[...document.querySelectorAll(".language-json .token-line")].filter((line) => {
  const word = [...line.querySelectorAll("span")].find(({ textContent }) => textContent.trim() !== "");
  if (!word || /^\\s/.test(word.textContent) || line.style.getPropertyValue("--indentation") > 2) return false;
  return [...line.querySelectorAll("span")].some((token) => [...token.getClientRects()].some(({ left, width }) =>
    width > 1 && token.textContent.trim() !== "" && left < word.getBoundingClientRect().left - 1));
}).map(({ textContent }) => textContent)`;

describe("the design", () => {
  it("uses a font of the site, and loads nothing from other sites", async () => {
    const { page, close } = await documentationSite.openTab("/no", { hasOwnCache: true });
    const hosts = new Set<string>();
    page.on("request", (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${documentationSite.url}/`, { waitUntil: "networkidle" });
    expect(await page.evaluate("[...document.fonts].find(({ family }) => family === 'Inter').status")).toBe("loaded");
    expect([...hosts]).toEqual([documentationSite.url]);
    await close();
  });

  it("has no animations if the user prefers reduced motion", async () => {
    const { page, close } = await documentationSite.openTab("/docs/getting-started");
    await page.emulateMedia({ reducedMotion: "reduce" });
    const durations: string[] = await page.evaluate(
      `[...new Set([...document.querySelectorAll("*")].flatMap((element) => {
        const { transitionDuration, animationDuration } = getComputedStyle(element);
        return [transitionDuration, animationDuration].join(", ").split(", ");
      }))]`,
    );
    expect(Math.max(...durations.map(Number.parseFloat))).toBeLessThan(0.001);
    await close();
  });

  it("includes an image for links from other sites, and robots.txt with the sitemap", async () => {
    const markup = await (await fetch(`${documentationSite.url}/`)).text();
    const [, image = ""] = /og:image content="?(?:https?:\/\/[^/]+)(\/[^" >]+)/.exec(markup) ?? [];
    const response = await fetch(`${documentationSite.url}${image}`);
    expect(response.headers.get("content-type")).toBe("image/png");
    const robots = await (await fetch(`${documentationSite.url}/robots.txt`)).text();
    const [, sitemap = ""] = /^Sitemap: https?:\/\/[^/]+(\/\S+)$/m.exec(robots) ?? [];
    expect((await fetch(`${documentationSite.url}${sitemap}`)).status).toBe(200);
  });

  it("shows how the sales and the payments of the example day differ", async () => {
    const { page, close } = await documentationSite.openTab("/");
    const report = page.getByRole("article", { name: "Example report" });
    const text = (await report.textContent()) ?? "";
    const amountAfter = (words: string) => {
      const amount = new RegExp(`${words}\\s*€([\\d,.]+\\d)`).exec(text)?.[1] ?? "";
      return Math.round(Number(amount.replaceAll(",", "")) * 100);
    };
    const declared = amountAfter("add up to");
    expect(declared - amountAfter("Sales")).toBe(amountAfter("which is"));
    expect(await report.getByRole("link").getAttribute("href")).toBe(
      "/docs/totals-by-payment-method#sales-and-payments",
    );
    await close();
  });
});
