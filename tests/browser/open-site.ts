import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../deploy/local/testing/chromium.js";

const portal = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "..", "docs-portal");

/** The built documentation, served, and a browser to look at it with. */
export interface Site {
  url: string;
  /** A tab with nothing remembered, in the dark mode unless told otherwise. */
  open(path: string, options?: BrowserContextOptions): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  page: Page;
  context: BrowserContext;
  /** What the page complained of so far: errors of the console, and errors that nobody caught. */
  complaints: string[];
  close(): Promise<void>;
}

/** Serves what `npm test`, or `node docs-portal/build.mjs`, has built. `flags` are more of Chromium's own. */
export async function openSite({ flags = [] }: { flags?: string[] } = {}): Promise<Site> {
  if (!existsSync(join(portal, "build", "index.html")))
    throw new Error("Build the documentation first: node docs-portal/build.mjs");
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("There is no Chromium: run the tests with npm test.");
  const server = spawn(process.execPath, [join(portal, "serve.mjs"), "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const [told] = await once(server.stdout, "data");
  const url = /http:\S+/.exec(String(told))?.[0] ?? "";
  const browser: Browser = await chromium.launch({ executablePath, args: [...chromiumFlags, ...flags] });
  return {
    url,
    async open(path, options = {}) {
      const context = await browser.newContext({
        colorScheme: "dark",
        viewport: { width: 1440, height: 900 },
        ...options,
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(`${url}${path}`);
      await isAlive(page);
      return { page, context, complaints, close: () => context.close() };
    },
    async close() {
      await browser.close();
      server.kill();
    },
  };
}

/** Waits until the page answers to people, and not only shows what the server made. */
export async function isAlive(page: Page): Promise<void> {
  await page.waitForFunction("'docusaurusRoot' in window");
  await page.waitForFunction("document.documentElement.dataset.hasHydrated === 'true'");
}
