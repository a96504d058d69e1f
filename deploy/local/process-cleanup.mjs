import { spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UserFacingError } from "./terminal.mjs";

/**
 * A process that was started here, told apart from a later one that was given the same number.
 * @typedef {{ pid: number, startedAt: string }} ProcessIdentity
 */

/**
 * The moment a running process was started, in whatever form the system gives it; undefined when it has ended.
 * @param {number} pid
 */
function processStartOf(pid) {
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
 * @returns {ProcessIdentity}
 */
export function identifyProcess(pid) {
  return { pid, startedAt: processStartOf(pid) ?? "ended" };
}

/** @param {ProcessIdentity} known */
export function isProcessRunning({ pid, startedAt }) {
  return processStartOf(pid) === startedAt;
}

/**
 * Asks a process to end and waits until it has; past the time it is killed.
 * @param {ProcessIdentity} known
 * @param {NodeJS.Signals} signal
 * @param {number} timeoutMs
 */
export async function terminateProcess(known, signal, timeoutMs) {
  const attempts = /** @type {const} */ ([
    [signal, timeoutMs],
    ["SIGKILL", 5_000],
  ]);
  for (const [each, withinMs] of attempts) {
    if (isProcessRunning(known)) signalProcess(known.pid, each);
    for (const deadline = Date.now() + withinMs; isProcessRunning(known) && Date.now() < deadline; ) await sleep(20);
  }
}

/**
 * Signals a process, or what is left of its group, which may have ended.
 * @param {number} pid negative: the group
 * @param {NodeJS.Signals} signal
 */
export function signalProcess(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (pid > 0 && /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}

/**
 * What ends soon after this process: a process that leads a group, with what is left of the group; a container; a folder
 * of throw-away data. The id is the number of the process, the name of the container, the path of the folder.
 * @typedef {{ kind: "process", id: number, known: import("./process-cleanup.mjs").ProcessIdentity,
 *   signal: NodeJS.Signals, timeoutMs: number } | { kind: "container" | "folder", id: string }} CleanupResource
 */

/** @type {Map<number | string, CleanupResource>} */
const registeredResources = new Map();
/** @type {import("node:child_process").ChildProcess | undefined} */
let cleanupProcess;
/** @type {string | undefined} */
let resourceListFile;
let isCleanupStarted = false;

/**
 * Has something end soon after this process, however this one ends.
 * @param {CleanupResource} resource
 */
export function registerForCleanup(resource) {
  throwIfCleaningUp();
  registeredResources.set(resource.id, resource);
  cleanupProcess ??= startCleanupProcess();
  sendResourceList();
}

/**
 * It is gone: there is nothing to guard any more.
 * @param {number | string} id
 */
export function unregisterFromCleanup(id) {
  if (registeredResources.delete(id)) sendResourceList();
}

/**
 * Starts a process that leads a group of its own, so that Ctrl-C in the terminal does not reach it, and that ends, with
 * what is left of the group, soon after this process.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} [end] asks it to end; when it is killed after all
 */
export function spawnWithCleanup(command, args, options, { signal = "SIGTERM", timeoutMs = 10_000 } = {}) {
  throwIfCleaningUp();
  const child = spawn(command, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) {
    registerForCleanup({ kind: "process", id: pid, known: identifyProcess(pid), signal, timeoutMs });
    child.once("exit", () => {
      signalProcess(-pid, "SIGKILL");
      unregisterFromCleanup(pid);
    });
  }
  return child;
}

/**
 * Keeps what is guarded, and the process that started it, on file as well: the guard may be killed, too.
 * @param {string} file
 */
export function persistCleanupList(file) {
  resourceListFile = file;
  sendResourceList();
}

/** Whether everything is being ended: then nothing ends by itself. */
export function isCleaningUp() {
  return isCleanupStarted;
}

/** Ends whatever is guarded, the last started first, and waits for it. Nothing can be started afterwards. */
export async function cleanUpAndWait() {
  isCleanupStarted = true;
  const last = cleanupProcess;
  if (last === undefined || last.exitCode !== null || last.signalCode !== null) return;
  await new Promise((resolve) => {
    last.ref();
    last.once("exit", resolve);
    last.stdin?.end();
  });
}

function throwIfCleaningUp() {
  if (isCleanupStarted) throw new UserFacingError("Nothing is started any more: this program is stopping.");
}

function sendResourceList() {
  if (isCleanupStarted) return;
  const list = [...registeredResources.values()];
  cleanupProcess?.stdin?.write(`${JSON.stringify(list)}\n`);
  const record = { owner: identifyProcess(process.pid), guarded: list };
  if (resourceListFile === undefined) return;
  try {
    writeFileSync(`${resourceListFile}.unfinished`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${resourceListFile}.unfinished`, resourceListFile);
  } catch {
    // A full disk ends nothing that runs: the guard has the list, too.
  }
}

/** Starts it detached, so that no signal from the terminal reaches it, and unreferenced, so that this process may end. */
function startCleanupProcess() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("cleanup-process.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.stdin.on("error", () => {});
  child.once("exit", (_, signal) => {
    // It was killed: another takes its place.
    if (isCleanupStarted || signal === null) return;
    cleanupProcess = startCleanupProcess();
    sendResourceList();
  });
  /** @type {import("node:net").Socket} */ (child.stdin).unref();
  return child;
}
