import { join } from "node:path";
import { explain } from "./failure.mjs";
import { requireFreePort } from "./free-port.ts";
import { say, withProgress } from "./progress.mjs";
import { runOrFail } from "./run-command.mjs";
import { answersOk, runServer } from "./run-server.ts";
import { checkout } from "./setup.mjs";
import { stateFolder } from "./state-folder.ts";

const portal = join(checkout, "docs-portal");

/**
 * Builds the documentation site, unless it was built from what is in the checkout.
 *
 * @throws Failure with the end of what the build says.
 */
export async function buildPortal(): Promise<void> {
  const args = [join(portal, "build.mjs"), "--if-stale"];
  await withProgress("Building the documentation", () =>
    runOrFail(process.execPath, args, {}, "The documentation cannot be built"),
  );
}

/**
 * Builds the documentation site where needed, and serves it. The API does without it: what goes wrong is told in the
 * line that is returned, and nothing is thrown.
 */
export async function startPortal(port: number): Promise<string> {
  try {
    await requireFreePort("PORTAL_PORT", port);
    await buildPortal();
    await runServer({
      name: "The documentation",
      logFile: join(stateFolder, "logs", "portal.log"),
      port,
      log: say,
      stopTimeoutMs: 5_000,
      command: process.execPath,
      args: [join(portal, "serve.mjs"), String(port)],
      isReady: () => answersOk(`http://127.0.0.1:${port}/`),
    });
    return `Open http://localhost:${port} for the documentation, with every operation to try.`;
  } catch (error) {
    return `The API works, but its documentation is not served. ${explain(error)}`;
  }
}
