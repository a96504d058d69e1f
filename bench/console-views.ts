import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { chromium } from "playwright-core";
import { chromiumFlags, ensureChromiumInstalled, findChromium } from "../deploy/local/testing/chromium.js";
import { createSignInScript, startConsoleServer } from "../deploy/local/testing/console-server.js";
import { BenchmarkSkippedError } from "./benchmark.ts";

const consoleFolder = join(
  findEnclosingPackageFolder(import.meta.resolve("@pragma/services/definitions")),
  "..",
  "console",
);
/** Maximum time to wait for a view, in milliseconds. */
const viewTimeoutMs = 60_000;

/** Returns the milliseconds until the view has its heading and nothing in it is loading. */
const waitUntilShown = `new Promise((resolve, reject) => {
  const check = () => {
    const isShown = document.querySelector("main h1") !== null &&
      document.querySelector("main .progress, main [aria-busy=true], main [role=alert]") === null;
    if (isShown) resolve(performance.now());
    else if (performance.now() > ${viewTimeoutMs}) reject(new Error(document.body.innerText));
    else requestAnimationFrame(check);
  };
  check();
})`;

export interface BenchConsole {
  /** Opens a view in a new tab with an empty cache. Returns the milliseconds until all of its data is shown. */
  measureView(path: string, apiKey: string): Promise<number>;
  close(): Promise<void>;
}

/** Serves the built console for the API at this URL, and starts a browser. */
export async function startBenchConsole(apiUrl: string): Promise<BenchConsole> {
  await ensureChromiumInstalled();
  const executablePath = findChromium();
  if (executablePath === undefined) throw new BenchmarkSkippedError("Chromium is not installed on this machine.");
  const server = await startConsoleServer(consoleFolder, apiUrl);
  const browser = await chromium.launch({ executablePath, args: chromiumFlags });
  return {
    async measureView(path, apiKey) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const page = await context.newPage();
      await page.addInitScript(createSignInScript(apiKey));
      await page.goto(`${server.url}${path}`, { waitUntil: "commit", timeout: viewTimeoutMs });
      const milliseconds = await page.evaluate<number>(waitUntilShown);
      await context.close();
      return milliseconds;
    },
    async close() {
      await browser.close();
      server.stop();
    },
  };
}
