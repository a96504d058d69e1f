import { join } from "node:path";
import { explain, Failure } from "./failure.mjs";
import { isPortFree } from "./free-port.mjs";
import { runServer } from "./private-server.mjs";
import { answersOk } from "./product.mjs";
import { withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";
import { endLeftOver } from "./server-record.mjs";
import { checkout } from "./state-folder.mjs";

const portal = join(checkout, "docs-portal");
const stopWithinMs = 5_000;

/**
 * Builds the documentation site, unless it was built from what is in the checkout.
 * @throws {Failure} with the end of what the build says
 */
export async function buildPortal() {
  await withProgress("Building the documentation", async () => {
    const { code, output } = await runCommand(process.execPath, [join(portal, "build.mjs"), "--if-stale"]);
    if (code !== 0) throw new Failure(`The documentation cannot be built:\n${endOf(output, 25)}`);
  });
}

/**
 * Builds the documentation site where needed, and serves it. The API does without it: what goes wrong is told in the
 * story, and nothing is thrown.
 * @param {{ stateFolder: string, port: number, log: (line: string) => void }} place
 * @returns {Promise<{ story: string, stop: () => Promise<void> }>}
 */
export async function startPortal({ stateFolder, port, log }) {
  const folder = join(stateFolder, "portal");
  try {
    await endLeftOver({ name: "documentation", folder, log, stopWithinMs });
    if (!(await isPortFree(port)))
      throw new Failure(`Port ${port} is taken by another program. Set PORTAL_PORT to use another one.`);
    await buildPortal();
    const { stop } = await runServer({
      name: "The documentation",
      folder,
      logFile: join(stateFolder, "logs", "portal.log"),
      port,
      log,
      stopSignal: "SIGTERM",
      stopWithinMs,
      launch: () => ({ command: process.execPath, args: [join(portal, "serve.mjs"), String(port)] }),
      isReady: () => answersOk(`http://127.0.0.1:${port}/`),
    });
    return { story: `Open http://localhost:${port} for the documentation, with every operation to try.`, stop };
  } catch (error) {
    return { story: `The API works, but its documentation is not served. ${explain(error)}`, stop: async () => {} };
  }
}
