import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** @typedef {import("./process-identity.mjs").KnownProcess} KnownProcess */

/** @type {import("node:child_process").ChildProcess | undefined} */
let guard;

/**
 * Makes sure that a process ends soon after this one, however this one ends.
 * @param {KnownProcess} known
 * @param {NodeJS.Signals} signal asks it to end gracefully
 */
export function guardProcess(known, signal) {
  tell({ guard: known, signal, group: false });
}

/**
 * The same for a process that leads a group, and for whatever is left of the group.
 * @param {KnownProcess} known
 * @param {NodeJS.Signals} signal
 */
export function guardGroup(known, signal) {
  tell({ guard: known, signal, group: true });
}

/**
 * The process has ended: there is nothing to guard any more.
 * @param {KnownProcess} known
 */
export function releaseProcess(known) {
  tell({ release: known });
}

/**
 * Makes sure that a container ends and is removed soon after this process.
 * @param {string} name
 */
export function guardContainer(name) {
  tell({ guardContainer: name });
}

/**
 * The container has been removed.
 * @param {string} name
 */
export function releaseContainer(name) {
  tell({ releaseContainer: name });
}

/**
 * Makes sure that a temporary folder is removed after this process, once the processes that may use it have ended.
 * @param {string} path absolute
 */
export function guardFolder(path) {
  tell({ guardFolder: path });
}

/**
 * @param {string} path
 */
export function releaseFolder(path) {
  tell({ releaseFolder: path });
}

/**
 * Ends now, and waits for the end of, whatever is still guarded. Nothing can be guarded afterwards.
 * @returns {Promise<void>}
 */
export function endGuarded() {
  const last = guard;
  if (last === undefined || last.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    last.ref();
    last.once("exit", () => resolve());
    last.stdin?.end();
  });
}

/**
 * @param {import("./guard.mjs").GuardLine} line
 */
function tell(line) {
  if ("guard" in line || "guardContainer" in line || "guardFolder" in line) guard ??= startGuard();
  guard?.stdin?.write(`${JSON.stringify(line)}\n`);
}

/**
 * Detached, so that Ctrl-C in the terminal and the end of the process group do not reach it; unreferenced, so that it
 * does not keep this process running.
 * @returns {import("node:child_process").ChildProcess}
 */
function startGuard() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("guard.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.stdin.on("error", () => {});
  /** @type {import("node:net").Socket} */ (child.stdin).unref();
  return child;
}
