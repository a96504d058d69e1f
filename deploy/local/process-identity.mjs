import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A process that was started here, told apart from a later one that was given the same number.
 * @typedef {{ pid: number, startedAt: string }} KnownProcess
 */

/**
 * The moment a running process was started, in whatever form the system gives it; undefined when it has ended.
 * @param {number} pid
 */
function startOf(pid) {
  if (process.platform !== "linux")
    return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim() || undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended. Field 22 counts ticks since this boot.
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
  return { pid, startedAt: startOf(pid) ?? "ended" };
}

/** @param {KnownProcess} known */
export function isRunning({ pid, startedAt }) {
  return startOf(pid) === startedAt;
}

/**
 * Asks a process to end and waits until it has; past the time it is killed.
 * @param {KnownProcess} known
 * @param {NodeJS.Signals} signal
 * @param {number} timeoutMs
 */
export async function endProcess(known, signal, timeoutMs) {
  const attempts = /** @type {const} */ ([
    [signal, timeoutMs],
    ["SIGKILL", 5_000],
  ]);
  for (const [each, withinMs] of attempts) {
    if (isRunning(known)) sendSignal(known.pid, each);
    for (const deadline = Date.now() + withinMs; isRunning(known) && Date.now() < deadline; ) await sleep(20);
  }
}

/**
 * Signals a process, or what is left of its group, which may have ended.
 * @param {number} pid negative: the group
 * @param {NodeJS.Signals} signal
 */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (pid > 0 && /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}
