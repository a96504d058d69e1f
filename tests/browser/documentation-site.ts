import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../deploy/local/testing/chromium.js";

const portalFolder = join(findPackageFolder(import.meta.resolve("@pragma/services/definitions")), "..", "docs-portal");

/** The built documentation, served, and a browser to look at it with. */
export interface DocumentationSite {
  url: string;
  /** A tab with nothing remembered, in the dark mode unless told otherwise. */
  openTab(path: string, options?: BrowserTabOptions): Promise<BrowserTab>;
  close(): Promise<void>;
}

interface BrowserTabOptions {
  colorScheme?: "dark" | "light" | "no-preference";
  viewport?: { width: number; height: number };
  /** Whether it has a cache of its own, for what depends on requests: else files that another tab has loaded are not loaded again. */
  hasOwnCache?: boolean;
}

export interface BrowserTab {
  page: Page;
  context: BrowserContext;
  /** What the page complained of so far: errors of the console, and errors that nobody caught. */
  consoleErrors: string[];
  close(): Promise<void>;
}

/** Serves what `npm test`, or `node docs-portal/build.mjs`, has built. `flags` are more of Chromium's own. */
export async function serveDocumentationSite({ flags = [] }: { flags?: string[] } = {}): Promise<DocumentationSite> {
  if (!existsSync(join(portalFolder, "build", "index.html")))
    throw new Error("Build the documentation first: node docs-portal/build.mjs");
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium: run the tests with npm test.");
  const server = spawn(process.execPath, [join(portalFolder, "serve.mjs"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [told] = await once(server.stdout, "data");
  const url = /http:\S+/.exec(String(told))?.[0] ?? "";
  const browser = await chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
  // Starting a process for a tab, and loading files anew, takes longer than all else: tabs share what they may. A page
  // that stays open keeps their process.
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
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(`${url}${path}`);
      await waitUntilHydrated(page);
      return { page, context, consoleErrors: complaints, close: () => (hasOwnCache ? context.close() : page.close()) };
    },
    async close() {
      await browser.close();
      server.kill();
    },
  };
}

/** Runs in every page before its own scripts: on the first of a tab, removes what tabs before it have stored. */
const clearStoredStateScript = `if (location.protocol.startsWith("http") && !sessionStorage.getItem("isOldTab")) {
  localStorage.clear();
  sessionStorage.setItem("isOldTab", "true");
}`;

/** Waits until the page answers to people, and not only shows what the server made. */
export async function waitUntilHydrated(page: Page): Promise<void> {
  await page.waitForFunction("'docusaurusRoot' in window");
  await page.waitForFunction("document.documentElement.dataset.hasHydrated === 'true'");
}
