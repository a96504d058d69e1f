import { cleanUpAndWait } from "./process-cleanup.mjs";
import { ensurePackagesInstalled } from "./setup.mjs";
import { describeError, printLine } from "./terminal.mjs";

/** A killed npm takes its shell along, and leaves the script running. */
const isRunByNpm = process.env.npm_lifecycle_event !== undefined;

/** Ctrl-C arrives twice within this time: from the terminal, and passed on by npm. */
const duplicateSignalMs = 1_000;

/**
 * Runs a program, for which packages are installed and TypeScript can be imported, and ends this process: with the code
 * that the program returns; where it returns none, on Ctrl-C, SIGTERM and SIGHUP and when the npm that runs it is gone;
 * with code 1 and one message when something fails. Either way nothing that it started is left running. A second signal
 * does not wait for a graceful end.
 * @param {(fail: (error: unknown) => void) => Promise<number | undefined>} program
 * @param {number} [stopExitCode] the exit code when it is told to stop
 */
export async function runUntilStopped(program, stopExitCode = 0) {
  /** @type {number | undefined} */
  let stoppingSince;
  /** @type {{ code: number, story?: string }} */
  const { code, story } = await new Promise((end) => {
    const fail = (/** @type {unknown} */ error) => end({ code: 1, story: describeError(error) });
    const stop = () => end({ code: stopExitCode });
    process.on("uncaughtException", fail);
    process.stdout.on("error", () => {});
    // Also what keeps this process up.
    const parent = process.ppid;
    setInterval(() => isRunByNpm && process.ppid !== parent && stop(), 500);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => {
        if (stoppingSince !== undefined && Date.now() - stoppingSince > duplicateSignalMs) process.exit(1);
        if (stoppingSince === undefined) printLine("Stopping…");
        stoppingSince ??= Date.now();
        stop();
      });
    preparePackages()
      .then(() => program(fail))
      .then((returned) => returned !== undefined && end({ code: returned }), fail);
  });
  stoppingSince ??= Date.now();
  await cleanUpAndWait();
  if (story !== undefined) console.error(story);
  process.exit(code);
}

async function preparePackages() {
  await ensurePackagesInstalled();
  // biome-ignore lint/style/noRestrictedImports: packages are there by now.
  const { register } = await import("tsx/esm/api");
  // Its cache would be a folder outside the checkout.
  process.env.TSX_DISABLE_CACHE = "1";
  register();
  delete process.env.TSX_DISABLE_CACHE;
}
