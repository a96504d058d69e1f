import { spawn } from "node:child_process";

/**
 * @typedef {object} CommandOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] added to this process's
 * @property {{ uid: number, gid: number }} [user]
 * @property {string} [input] for its standard input
 * @property {boolean} [mustFinish] true: neither Ctrl-C nor `interruptCommands` ends it, because half of it is worse than none
 */

/** @type {Set<import("node:child_process").ChildProcess>} */
const interruptible = new Set();
/** @type {Set<Promise<unknown>>} */
const mustFinish = new Set();

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<{ code: number | null, output: string }>} what it wrote to both outputs; the code is null when a signal ended it
 * @throws when it cannot be started
 */
export function runCommand(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: options.mustFinish === true,
    ...options.user,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
    });
  }
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  /** @type {Promise<{ code: number | null, output: string }>} */
  const finished = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
  track(child, finished, options.mustFinish === true);
  return finished;
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {Promise<unknown>} finished
 * @param {boolean} isLong
 */
function track(child, finished, isLong) {
  const settled = finished.catch(() => {});
  if (isLong) mustFinish.add(settled);
  else interruptible.add(child);
  void settled.then(() => {
    interruptible.delete(child);
    mustFinish.delete(settled);
  });
}

/** Ends the commands that run now, and waits for those that must finish. */
export async function interruptCommands() {
  for (const child of interruptible) child.kill("SIGTERM");
  await Promise.all(mustFinish);
}

/**
 * @param {string} output
 * @param {number} [count]
 * @returns {string} its last lines, indented for showing
 */
export function endOf(output, count = 15) {
  const lines = output.trimEnd().split("\n").slice(-count);
  return lines.map((line) => `  ${line}`).join("\n");
}
