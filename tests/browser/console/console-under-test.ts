import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { chromium, type Page } from "playwright-core";
import { chromiumFlags, findChromium } from "../../../deploy/local/testing/chromium.js";

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
  { hasSandboxes = false }: { hasSandboxes?: boolean } = {},
): Promise<ConsoleUnderTest> {
  if (!existsSync(join(consoleFolder, "build", "index.html")))
    throw new Error("Build the console first: node console/build.mjs");
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("Chromium was not found: run the tests with npm test.");
  const server = spawn(process.execPath, [join(consoleFolder, "serve.mjs"), "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...{ ...process.env, PUBLIC_URL: apiUrl, DOCS_URL: "http://localhost:3000/docs" },
      SANDBOXES: hasSandboxes ? "on" : "off",
    },
  });
  const [output] = await once(server.stdout, "data");
  const url = /http:\S+/.exec(String(output))?.[0] ?? "";
  const browser = await chromium.launch({ executablePath, args: chromiumFlags });
  return {
    url,
    async openView(path, { apiKey, colorScheme = "light", width = 1440 } = {}) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: width < 600 ? 844 : 900 },
        permissions: ["clipboard-read", "clipboard-write"],
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      if (apiKey !== undefined) await page.addInitScript(storeKeyOnce(apiKey));
      const errors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`${url}${path}`);
      return { page, errors, close: () => context.close() };
    },
    async close() {
      await browser.close();
      server.kill();
    },
  };
}

/** A script that signs the tab in. It stores the key only once, so that the test can sign out. */
const storeKeyOnce = (apiKey: string) => `if (!sessionStorage.getItem("isOldTab")) {
  sessionStorage.setItem("isOldTab", "true");
  sessionStorage.setItem("pragma.console.apiKey", ${JSON.stringify(apiKey)});
}`;
