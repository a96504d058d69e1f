import { spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Failure } from "./terminal.mjs";

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

/**
 * What ends soon after this process: a process that leads a group, with what is left of the group; a container; a folder
 * of throw-away data. The id is the number of the process, the name of the container, the path of the folder.
 * @typedef {{ kind: "process", id: number, known: import("./guarded.mjs").KnownProcess,
 *   signal: NodeJS.Signals, timeoutMs: number } | { kind: "container" | "folder", id: string }} Guarded
 */

/** @type {Map<number | string, Guarded>} */
const guarded = new Map();
/** @type {import("node:child_process").ChildProcess | undefined} */
let guard;
/** @type {string | undefined} */
let recordFile;
let ending = false;

/**
 * Has something end soon after this process, however this one ends.
 * @param {Guarded} what
 */
export function guardUntilReleased(what) {
  refuseWhenEnding();
  guarded.set(what.id, what);
  guard ??= startGuard();
  informGuard();
}

/**
 * It is gone: there is nothing to guard any more.
 * @param {number | string} id
 */
export function release(id) {
  if (guarded.delete(id)) informGuard();
}

/**
 * Starts a process that leads a group of its own, so that Ctrl-C in the terminal does not reach it, and that ends, with
 * what is left of the group, soon after this process.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} [end] asks it to end; when it is killed after all
 */
export function spawnGuarded(command, args, options, { signal = "SIGTERM", timeoutMs = 10_000 } = {}) {
  refuseWhenEnding();
  const child = spawn(command, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) {
    guardUntilReleased({ kind: "process", id: pid, known: knownProcess(pid), signal, timeoutMs });
    child.once("exit", () => {
      sendSignal(-pid, "SIGKILL");
      release(pid);
    });
  }
  return child;
}

/**
 * Keeps what is guarded, and the process that started it, on file as well: the guard may be killed, too.
 * @param {string} file
 */
export function recordGuarded(file) {
  recordFile = file;
  informGuard();
}

/** Whether everything is being ended: then nothing ends by itself. */
export function isEnding() {
  return ending;
}

/** Ends whatever is guarded, the last started first, and waits for it. Nothing can be started afterwards. */
export async function endGuarded() {
  ending = true;
  const last = guard;
  if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
  await new Promise((resolve) => {
    last.ref();
    last.once("exit", resolve);
    last.stdin?.end();
  });
}

function refuseWhenEnding() {
  if (ending) throw new Failure("Nothing is started any more: this program is stopping.");
}

function informGuard() {
  if (ending) return;
  const list = [...guarded.values()];
  guard?.stdin?.write(`${JSON.stringify(list)}\n`);
  const record = { owner: knownProcess(process.pid), guarded: list };
  if (recordFile === undefined) return;
  try {
    writeFileSync(`${recordFile}.unfinished`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${recordFile}.unfinished`, recordFile);
  } catch {
    // A full disk ends nothing that runs: the guard has the list, too.
  }
}

/** Starts it detached, so that no signal from the terminal reaches it, and unreferenced, so that this process may end. */
function startGuard() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("guard.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.stdin.on("error", () => {});
  child.once("exit", (_, signal) => {
    // It was killed: another takes its place.
    if (ending || signal === null) return;
    guard = startGuard();
    informGuard();
  });
  /** @type {import("node:net").Socket} */ (child.stdin).unref();
  return child;
}
