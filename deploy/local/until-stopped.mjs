import { explain } from "./failure.mjs";
import { endGuarded } from "./guarded.mjs";
import { say } from "./progress.mjs";
import { interruptCommands } from "./run-command.mjs";

/**
 * @typedef {object} Run
 * @property {<T>(work: () => T | Promise<T>) => Promise<T>} step does one thing, unless it is time to stop
 * @property {(stop: () => Promise<void>) => void} onStop the last given is called first
 * @property {(story: string) => void} fail ends everything because of what happened
 */

/** A killed npm takes its shell along, and leaves the script running. */
const isRunByNpm = process.env.npm_lifecycle_event !== undefined;

/** Ctrl-C arrives twice within this time: from the terminal, and passed on by npm. */
const sameSignalMs = 1_000;

/**
 * Runs a program that starts things and stays up, and ends this process: with code 0 on Ctrl-C, SIGTERM and SIGHUP
 * and when the npm that runs it is gone, with code 1 and one message when something fails. Either way nothing that it
 * started is left running. A second signal does not wait for a graceful end.
 * @param {(run: Run) => Promise<void>} program
 */
export async function runUntilStopped(program) {
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  /** @type {number | undefined} */
  let stoppingSince;
  /** @type {{ code: number, story?: string }} */
  const { code, story } = await new Promise((end) => {
    const fail = (/** @type {unknown} */ error) => end({ code: 1, story: explain(error) });
    process.on("uncaughtException", fail);
    process.stdout.on("error", () => {});
    // Also what keeps this process up.
    const parent = process.ppid;
    setInterval(() => {
      if (isRunByNpm && process.ppid !== parent) end({ code: 0 });
    }, 500);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => {
        if (stoppingSince === undefined) end({ code: 0 });
        else if (Date.now() - stoppingSince > sameSignalMs) process.exit(1);
        stoppingSince ??= Date.now();
      });
    program({
      fail,
      onStop: (stop) => stops.unshift(stop),
      // A step that follows the order to stop never settles: the process ends first.
      step: async (work) => (stoppingSince !== undefined ? new Promise(() => {}) : work()),
    }).catch(fail);
  });
  stoppingSince ??= Date.now();
  if (story === undefined) say("Stopping…");
  await interruptCommands();
  for (const stop of stops) await stop().catch((error) => say(explain(error)));
  await endGuarded();
  if (story !== undefined) console.error(story);
  process.exit(code);
}
