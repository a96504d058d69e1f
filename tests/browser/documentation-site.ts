import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { vi } from "vitest";
import { chromiumFlags, findChromium } from "../../deploy/local/testing/chromium.js";

const portalFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "docs-portal",
);

/** A running server of the built documentation site, and a browser that opens its pages. */
export interface DocumentationSiteUnderTest {
  url: string;
  /** Opens a page in a new tab with empty local storage. The default color mode is dark. */
  openTab(path: string, options?: BrowserTabOptions): Promise<TestBrowserTab>;
  /** Creates a browser context with an empty cache. */
  createContext(): Promise<BrowserContext>;
  close(): Promise<void>;
}

interface BrowserTabOptions {
  colorScheme?: "dark" | "light" | "no-preference";
  viewport?: { width: number; height: number };
  /** Whether the tab has its own cache, so that a test can check which files it requests. Other tabs share a cache. */
  hasOwnCache?: boolean;
}

export interface TestBrowserTab {
  page: Page;
  context: BrowserContext;
  /** The uncaught errors of the page and the errors in its console, so far. */
  consoleErrors: string[];
  close(): Promise<void>;
}

/**
 * Serves the site that `npm test` or `node docs-portal/build.mjs` built, and starts Chromium. `flags` are additional
 * flags of Chromium, and `environment` contains additional variables of the site's server.
 */
export async function startSiteInBrowser({
  flags = [],
  environment = {},
}: {
  flags?: string[];
  environment?: Record<string, string>;
} = {}): Promise<DocumentationSiteUnderTest> {
  if (!existsSync(join(portalFolder, "build", "index.html")))
    throw new Error("Build the documentation first: node docs-portal/build.mjs");
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium was not found: run the tests with npm test.");
  const server = spawn(process.execPath, [join(portalFolder, "serve.mjs"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  const [output] = await once(server.stdout, "data");
  const url = /http:\S+/.exec(String(output))?.[0] ?? "";
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
  // Tabs share a process and a cache, because starting processes and loading files would take too much time. One page
  // remains open, because the browser ends a process that has no pages.
  const shared = await browser.newContext();
  await (await shared.newPage()).goto(`${url}/llms.txt`);
  return {
    url,
    async openTab(path, { colorScheme = "dark", viewport = { width: 1440, height: 900 }, hasOwnCache = false } = {}) {
      const context = hasOwnCache ? await browser.newContext() : shared;
      const page = await context.newPage();
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.addInitScript(clearStoredStateScript);
      const consoleErrors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") consoleErrors.push(message.text());
      });
      page.on("pageerror", (error) => consoleErrors.push(String(error)));
      await page.goto(`${url}${path}`);
      await waitUntilHydrated(page);
      return { page, context, consoleErrors, close: () => (hasOwnCache ? context.close() : page.close()) };
    },
    createContext: () => browser.newContext(),
    async close() {
      await browser.close();
      server.kill();
    },
  };
}

/** A script that runs before the scripts of each page. It clears the local storage on the first page of a tab. */
const clearStoredStateScript = `if (location.protocol.startsWith("http") && !sessionStorage.getItem("isOldTab")) {
  localStorage.clear();
  sessionStorage.setItem("isOldTab", "true");
}`;

/** Waits until the page is interactive. Before that, it shows the prerendered content but ignores clicks. */
export async function waitUntilHydrated(page: Page): Promise<void> {
  await waitForExpression(page, "'docusaurusRoot' in window");
  await waitForExpression(page, "document.documentElement.dataset.hasHydrated === 'true'");
}

/** Waits until an expression is true in the page. The content security policy of the site prevents `waitForFunction`. */
export async function waitForExpression(page: Page, expression: string): Promise<void> {
  // While the page loads another page, the expression cannot be evaluated.
  const evaluate = () => page.evaluate<boolean>(`Boolean(${expression})`).catch(() => false);
  await vi.waitUntil(evaluate, { timeout: 30_000, interval: 20 });
}
