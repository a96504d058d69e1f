import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { runRegisteredExitCleanup } from "./process-cleanup.mjs";
import { ensureAllPackagesInstalled, repositoryFolder } from "./setup.mjs";
import { describeLocalCommandError, printLine } from "./terminal.mjs";

/** Whether npm runs this script. A script must detect when npm is killed, because it would otherwise keep running. */
const isRunByNpm = process.env.npm_lifecycle_event !== undefined;

/** Milliseconds in which a second signal is ignored, because npm forwards the Ctrl-C that the terminal also sends. */
const duplicateSignalMs = 1_000;

/**
 * Installs packages, runs a program, and exits with the code that it returns. If it returns undefined, exits on a signal, or
 * when npm has ended. On an error, prints one message and exits with code 1. Before every exit, cleans up all started
 * processes, unless a second signal arrives more than a second after the first.
 * @param {(fail: (error: unknown) => void) => Promise<number | undefined>} program
 * @param {{ stopExitCode?: number, installPackages?: () => Promise<void> }} [options] by default, all are installed
 */
export async function runProgramUntilStopped(
  program,
  { stopExitCode = 0, installPackages = ensureAllPackagesInstalled } = {},
) {
  /** @type {number | undefined} */
  let stoppingSince;
  /** @type {{ code: number, errorText?: string }} */
  const { code, errorText } = await new Promise((end) => {
    const fail = (/** @type {unknown} */ error) => end({ code: 1, errorText: describeLocalCommandError(error) });
    const stop = () => end({ code: stopExitCode });
    process.on("uncaughtException", fail);
    process.stdout.on("error", () => {});
    // When npm has ended, this process gets a different parent. The timer then stops the program. The timer also
    // prevents this process from exiting.
    const parent = process.ppid;
    setInterval(() => isRunByNpm && process.ppid !== parent && stop(), 500);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => {
        if (stoppingSince !== undefined && Date.now() - stoppingSince > duplicateSignalMs) process.exit(1);
        if (stoppingSince === undefined) printLine("Stopping…");
        stoppingSince ??= Date.now();
        stop();
      });
    installPackages()
      .then(enableTypeScript)
      .then(() => program(fail))
      .then((exitCode) => exitCode !== undefined && end({ code: exitCode }), fail);
  });
  stoppingSince ??= Date.now();
  await runRegisteredExitCleanup();
  if (errorText !== undefined) console.error(errorText);
  process.exit(code);
}

async function enableTypeScript() {
  // Node.js 22.18 and newer runs TypeScript itself.
  if ("typescript" in process.features && process.features.typescript) return;
  const { TMPDIR } = process.env;
  const cacheFolder = join(repositoryFolder, "node_modules", ".cache");
  // tsx keeps compiled modules in the folder for temporary files, which is elsewhere by default.
  if (canWrite(join(repositoryFolder, "node_modules"))) process.env.TMPDIR = cacheFolder;
  else process.env.TSX_DISABLE_CACHE = "1";
  // biome-ignore lint/style/noRestrictedImports: packages are installed above.
  const { register } = await import("tsx/esm/api");
  register();
  delete process.env.TSX_DISABLE_CACHE;
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
}

/** @param {string} folder */
function canWrite(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
