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

/**
 * Runs a program that starts things and stays up, and ends this process: with code 0 on Ctrl-C, SIGTERM and SIGHUP,
 * with code 1 and one message when something fails. Either way nothing that it started is left running. A second
 * signal does not wait for a graceful end.
 * @param {(run: Run) => Promise<void>} program
 */
export async function runUntilStopped(program) {
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  let stopping = false;
  /** @type {{ code: number, story?: string }} */
  const { code, story } = await new Promise((end) => {
    const fail = (/** @type {unknown} */ error) => end({ code: 1, story: explain(error) });
    process.on("uncaughtException", fail);
    process.stdout.on("error", () => {});
    // What it started does not keep this process up.
    setInterval(() => {}, 2 ** 30);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
      process.on(signal, () => {
        if (stopping) process.exit(1);
        stopping = true;
        end({ code: 0 });
      });
    program({
      fail,
      onStop: (stop) => stops.unshift(stop),
      // A step that follows the order to stop never settles: the process ends first.
      step: async (work) => (stopping ? new Promise(() => {}) : work()),
    }).catch(fail);
  });
  stopping = true;
  if (story === undefined) say("Stopping…");
  await interruptCommands();
  for (const stop of stops) await stop().catch((error) => say(explain(error)));
  await endGuarded();
  if (story !== undefined) console.error(story);
  process.exit(code);
}
