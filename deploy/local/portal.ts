import { join } from "node:path";
import { requireFreePort } from "./free-port.ts";
import { runCommandOrFail } from "./run-command.mjs";
import { isUrlOk, launchLocalServer } from "./run-server.ts";
import { ensureDocsPortalPackagesInstalled, repositoryFolder } from "./setup.mjs";
import { localStateFolder } from "./state-folder.ts";
import { describeLocalCommandError, printLine, runTaskWithProgress } from "./terminal.mjs";

const portalFolder = join(repositoryFolder, "docs-portal");

/** Builds the site, unless it is up to date. @throws `LocalCommandUserError` with the end of the build output. */
export async function buildDocsPortal(): Promise<void> {
  const args = [join(portalFolder, "build.mjs"), "--if-stale"];
  await runTaskWithProgress("Building the documentation", () =>
    runCommandOrFail(process.execPath, args, {}, "The documentation cannot be built"),
  );
}

/**
 * Installs, builds and serves the documentation site, with the API key once it is known. Returns a message for the user, and
 * never throws, because the API works without the documentation.
 */
export async function startDocsPortal(
  port: number,
  site: {
    publicUrl: string;
    listenHost: string;
    consoleUrl: string;
    isApiReady: Promise<unknown>;
    demoApiKey: Promise<string | undefined>;
  },
): Promise<string> {
  try {
    await requireFreePort("PORTAL_PORT", port);
    await ensureDocsPortalPackagesInstalled({ inBackground: true });
    // The build computes the day on the home page with the code of the API, and competes with its start for the processors.
    await site.isApiReady;
    await buildDocsPortal();
    await launchLocalServer({
      name: "The documentation",
      logFile: join(localStateFolder, "logs", "portal.log"),
      port,
      log: printLine,
      stopTimeoutMs: 5_000,
      command: process.execPath,
      args: [join(portalFolder, "serve.mjs"), String(port)],
      env: {
        ...process.env,
        PUBLIC_URL: site.publicUrl,
        LISTEN_HOST: site.listenHost,
        CONSOLE_URL: site.consoleUrl,
        DOCS_DEMO_API_KEY: await site.demoApiKey,
      },
      isReady: () => isUrlOk(`http://127.0.0.1:${port}/`),
    });
    return `Documentation, with a try-it console for every operation: http://localhost:${port}`;
  } catch (error) {
    return `The API works, but the documentation could not be started. ${describeLocalCommandError(error)}`;
  }
}
