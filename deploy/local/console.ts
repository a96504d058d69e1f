import { join } from "node:path";
import { requireFreePort } from "./free-port.ts";
import { runCommandOrFail } from "./run-command.mjs";
import { isUrlOk, launchLocalServer } from "./run-server.ts";
import { repositoryFolder } from "./setup.mjs";
import { localStateFolder } from "./state-folder.ts";
import { describeLocalCommandError, printLine, runTaskWithProgress } from "./terminal.mjs";

const consoleFolder = join(repositoryFolder, "console");

/** Builds the console, unless it is up to date. @throws `LocalCommandUserError` with the end of the build output. */
export async function buildConsole(): Promise<void> {
  const args = [join(consoleFolder, "build.mjs"), "--if-stale"];
  await runTaskWithProgress("Building the console", () =>
    runCommandOrFail(process.execPath, args, {}, "The console cannot be built"),
  );
}

/**
 * Builds and serves the console for the API at `publicUrl`. Returns a message for the user, and never throws, because the
 * API works without the console.
 */
export async function startConsole(
  port: number,
  site: {
    publicUrl: string;
    docsUrl: string;
    sandboxes: string | undefined;
    listenHost: string;
    isApiReady: Promise<unknown>;
  },
): Promise<string> {
  try {
    await requireFreePort("CONSOLE_PORT", port);
    // The build competes with the start of the API for the processors.
    await site.isApiReady;
    await buildConsole();
    await launchLocalServer({
      name: "The console",
      logFile: join(localStateFolder, "logs", "console.log"),
      port,
      log: printLine,
      stopTimeoutMs: 5_000,
      command: process.execPath,
      args: [join(consoleFolder, "serve.mjs"), String(port)],
      env: {
        ...process.env,
        PUBLIC_URL: site.publicUrl,
        DOCS_URL: site.docsUrl,
        SANDBOXES: site.sandboxes,
        LISTEN_HOST: site.listenHost,
      },
      isReady: () => isUrlOk(`http://127.0.0.1:${port}/`),
    });
    return `Console, which shows the data of an API key: http://localhost:${port}`;
  } catch (error) {
    return `The API works, but the console could not be started. ${describeLocalCommandError(error)}`;
  }
}
