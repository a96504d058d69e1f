import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../../deploy/local/testing/chromium.js";
import { createSignInScript, startConsoleServer } from "../../../deploy/local/testing/console-server.js";

const consoleFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "console",
);

/** A running server of the built console, and a browser that opens its views. */
export interface ConsoleUnderTest {
  url: string;
  /** Opens a view in a tab with a storage and a cache of its own. */
  openView(path: string, options?: ConsoleTabOptions): Promise<ConsoleTab>;
  close(): Promise<void>;
}

interface ConsoleTabOptions {
  /** The API key that the tab is signed in with. Default: none, so that the sign-in page is shown. */
  apiKey?: string;
  colorScheme?: "light" | "dark";
  width?: number;
}

export interface ConsoleTab {
  page: Page;
  /** The uncaught errors of the page and the errors in its console, with violations of the content security policy. */
  errors: string[];
  close(): Promise<void>;
}

/** Serves the console that `npm test` or `node console/build.mjs` built, for the API at this URL. */
export async function startConsoleInBrowser(
  apiUrl: string,
  options: { hasSandboxes?: boolean } = {},
): Promise<ConsoleUnderTest> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium was not found: run the tests with npm test.");
  const server = await startConsoleServer(consoleFolder, apiUrl, options);
  const browser = await chromium.launch({ executablePath, args: chromiumFlags });
  return {
    url: server.url,
    async openView(path, { apiKey, colorScheme = "light", width = 1440 } = {}) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: width < 600 ? 844 : 900 },
        permissions: ["clipboard-read", "clipboard-write"],
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      if (apiKey !== undefined) await page.addInitScript(createSignInScript(apiKey));
      const errors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`${server.url}${path}`);
      return { page, errors, close: () => context.close() };
    },
    async close() {
      await browser.close();
      server.stop();
    },
  };
}
