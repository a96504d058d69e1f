import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { type CDPSession, chromium } from "playwright-core";
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
  const session = await browser.newBrowserCDPSession();
  return {
    async measureView(path, apiKey) {
      const { browserContextId } = await session.send("Target.createBrowserContext");
      try {
        const tab = await openTab(session, browserContextId);
        await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: createSignInScript(apiKey) });
        await tab.send("Page.enable");
        await tab.send("Page.navigate", { url: `${server.url}${path}` });
        const { result, exceptionDetails } = await tab.send("Runtime.evaluate", {
          expression: waitUntilShown,
          awaitPromise: true,
          returnByValue: true,
        });
        if (typeof result.value !== "number") throw new Error(exceptionDetails?.exception?.description);
        return result.value;
      } finally {
        await session.send("Target.disposeBrowserContext", { browserContextId });
      }
    },
    async close() {
      await browser.close();
      server.stop();
    },
  };
}

interface Tab {
  send: CDPSession["send"];
}

/**
 * Opens a tab that Playwright does not control. Playwright records which code sends each request, for which the browser parses
 * the code of the console a second time: about 100 milliseconds that no reader waits.
 */
async function openTab(session: CDPSession, browserContextId: string): Promise<Tab> {
  const { targetId } = await session.send("Target.createTarget", {
    url: "about:blank",
    browserContextId,
    width: 1440,
    height: 900,
  });
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  let lastId = 0;
  const send = (method: string, params: object = {}) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      const id = lastId;
      const receive = (event: { sessionId: string; message: string }) => {
        const answer = JSON.parse(event.message) as { id?: number; result: unknown; error?: object };
        if (event.sessionId !== sessionId || answer.id !== id) return;
        session.off("Target.receivedMessageFromTarget", receive);
        if (answer.error) reject(new Error(`${method}: ${JSON.stringify(answer.error)}`));
        else resolve(answer.result);
      };
      session.on("Target.receivedMessageFromTarget", receive);
      session
        .send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) })
        .catch(reject);
    });
  return { send: send as CDPSession["send"] };
}
