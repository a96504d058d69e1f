import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../deploy/local/testing/chromium.js";

const portalFolder = join(findPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..", "docs-portal");

/** A server for the built documentation site, and a browser that opens its pages. */
export interface DocumentationSite {
  url: string;
  /** Opens a tab with empty storage, by default in dark mode. */
  openTab(path: string, options?: BrowserTabOptions): Promise<BrowserTab>;
  close(): Promise<void>;
}

interface BrowserTabOptions {
  colorScheme?: "dark" | "light" | "no-preference";
  viewport?: { width: number; height: number };
  /** Whether the tab has its own cache, for tests that check requests. All other tabs share one cache. */
  hasOwnCache?: boolean;
}

export interface BrowserTab {
  page: Page;
  context: BrowserContext;
  /** Errors on the console and uncaught errors that the page has caused so far. */
  consoleErrors: string[];
  close(): Promise<void>;
}

/** Serves the site that `npm test` or `node docs-portal/build.mjs` has built. `flags` are further Chromium flags. */
export async function serveDocumentationSite({ flags = [] }: { flags?: string[] } = {}): Promise<DocumentationSite> {
  if (!existsSync(join(portalFolder, "build", "index.html")))
    throw new Error("Build the documentation first: node docs-portal/build.mjs");
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium was not found: run the tests with npm test.");
  const server = spawn(process.execPath, [join(portalFolder, "serve.mjs"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await once(server.stdout, "data");
  const url = /http:\S+/.exec(String(output))?.[0] ?? "";
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
  // Tabs share a process and a cache, because starting a process and loading files take most of the time. One page
  // stays open, so that the process does not end.
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
    async close() {
      await browser.close();
      server.kill();
    },
  };
}

/** Script that runs on every page before its own scripts. Clears the local storage on the first page of a tab. */
const clearStoredStateScript = `if (location.protocol.startsWith("http") && !sessionStorage.getItem("isOldTab")) {
  localStorage.clear();
  sessionStorage.setItem("isOldTab", "true");
}`;

/** Waits until the page, which the server has rendered, is also interactive. */
export async function waitUntilHydrated(page: Page): Promise<void> {
  await page.waitForFunction("'docusaurusRoot' in window");
  await page.waitForFunction("document.documentElement.dataset.hasHydrated === 'true'");
}
