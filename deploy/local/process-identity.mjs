import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A process that was started here, told apart from a later one that was given the same number.
 * @typedef {{ pid: number, identity: string }} KnownProcess
 */

/**
 * The moment a running process was started, in whatever form the system tells it; undefined when there is no such process.
 * @param {number} pid
 * @returns {string | undefined}
 */
function processIdentity(pid) {
  if (process.platform === "linux") return linuxIdentity(pid);
  const { stdout, status } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" });
  return status === 0 ? stdout.trim() || undefined : undefined;
}

/**
 * Field 22 of the process's stat line (ticks since boot), with the boot it counts from. A zombie has ended.
 * @param {number} pid
 * @returns {string | undefined}
 */
function linuxIdentity(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z") return undefined;
    return `${fields[18]}@${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
  } catch {
    return undefined;
  }
}

/**
 * @param {number} pid a process that runs now
 * @returns {KnownProcess}
 */
export function knownProcess(pid) {
  return { pid, identity: processIdentity(pid) ?? "ended" };
}

/**
 * @param {KnownProcess} known
 * @returns {boolean}
 */
export function isRunning(known) {
  return processIdentity(known.pid) === known.identity;
}

/**
 * Asks a process to end and waits until it has; past the grace it is killed. Never touches another process
 * that happens to have the number.
 * @param {KnownProcess} known
 * @param {NodeJS.Signals} signal
 * @param {number} graceMs
 * @returns {Promise<void>}
 */
export async function endProcess(known, signal, graceMs) {
  send(known, signal);
  if (await hasEnded(known, graceMs)) return;
  send(known, "SIGKILL");
  await hasEnded(known, 5_000);
}

/**
 * @param {KnownProcess} known
 * @param {NodeJS.Signals} signal
 */
export function send(known, signal) {
  if (!isRunning(known)) return;
  try {
    process.kill(known.pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

/**
 * Kills what is left of a process group.
 * @param {number} leader the process that it was made for, which may have ended
 */
export function killGroup(leader) {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

/**
 * @param {KnownProcess} known
 * @param {number} withinMs
 * @returns {Promise<boolean>}
 */
async function hasEnded(known, withinMs) {
  const deadline = Date.now() + withinMs;
  while (isRunning(known)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

/**
 * The command line of a running process; undefined when there is no such process.
 * @param {number} pid
 * @returns {string | undefined}
 */
export function commandLine(pid) {
  if (processIdentity(pid) === undefined) return undefined;
  if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  return spawnSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).stdout;
}
