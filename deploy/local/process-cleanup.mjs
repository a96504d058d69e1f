import { spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { LocalCommandUserError } from "./terminal.mjs";

/**
 * Identifies a process uniquely, even if its process id is later reused for another process.
 * @typedef {{ pid: number, startedAt: string }} ProcessIdentity
 */

/** Returns the start time of a running process, in a format of the system. @param {number} pid */
function processStartOf(pid) {
  if (process.platform !== "linux")
    return spawnSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim() || undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie process (Z) has ended. Field 22 is the start time in ticks since the boot, so the boot id is added.
    if (state === "Z") return undefined;
    return `${fields[18]}@${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}`;
  } catch {
    return undefined;
  }
}

/** @param {number} pid of a running process @returns {ProcessIdentity} */
export function readProcessIdentity(pid) {
  return { pid, startedAt: processStartOf(pid) ?? "ended" };
}

/** @param {ProcessIdentity} identity */
export function isProcessRunning({ pid, startedAt }) {
  return processStartOf(pid) === startedAt;
}

/**
 * Sends a signal to a process and waits until it has ended. After the timeout, kills it and waits five more seconds.
 * @param {ProcessIdentity} identity
 * @param {NodeJS.Signals} signal
 * @param {number} timeoutMs
 */
export async function terminateProcess(identity, signal, timeoutMs) {
  const attempts = /** @type {const} */ ([
    [signal, timeoutMs],
    ["SIGKILL", 5_000],
  ]);
  for (const [each, waitMs] of attempts) {
    if (isProcessRunning(identity)) signalProcess(identity.pid, each);
    if (await hasProcessEndedWithin(identity, waitMs)) return;
  }
}

/** @param {ProcessIdentity} identity @param {number} timeoutMs */
export async function hasProcessEndedWithin(identity, timeoutMs) {
  for (const deadline = Date.now() + timeoutMs; isProcessRunning(identity); await sleep(20))
    if (Date.now() > deadline) return false;
  return true;
}

/**
 * Does nothing if the process or group has ended.
 * @param {number} pid negative for a group
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
 * A resource that is cleaned up when this process ends: a process with its group, a container, or a folder of temporary
 * data. The id is the process id, the name of the container, or the path of the folder.
 * @typedef {{ kind: "process", id: number, identity: import("./process-cleanup.mjs").ProcessIdentity,
 *   signal: NodeJS.Signals, timeoutMs: number } | { kind: "container" | "folder", id: string }} CleanupResource
 */

/** @type {Map<number | string, CleanupResource>} */
const registeredResources = new Map();
/** @type {import("node:child_process").ChildProcess | undefined} */
let cleanupProcess;
/** @type {string | undefined} */
let resourceListFile;
let isCleanupStarted = false;

/** Registers a resource to be cleaned up when this process ends for any reason. @param {CleanupResource} resource */
export function registerForExitCleanup(resource) {
  throwIfCleaningUp();
  registeredResources.set(resource.id, resource);
  cleanupProcess ??= startCleanupProcess();
  sendResourceList();
}

/** Unregisters a resource that no longer exists. @param {number | string} id */
export function unregisterFromExitCleanup(id) {
  if (registeredResources.delete(id)) sendResourceList();
}

/**
 * Starts a process in a new process group, so that Ctrl-C in the terminal does not stop it. The group is stopped when
 * the started process or this process ends.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} [end] the signal to stop it, and the time until it is killed
 */
export function spawnProcessWithExitCleanup(command, args, options, { signal = "SIGTERM", timeoutMs = 10_000 } = {}) {
  throwIfCleaningUp();
  const child = spawn(command, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) {
    registerForExitCleanup({ kind: "process", id: pid, identity: readProcessIdentity(pid), signal, timeoutMs });
    child.once("exit", () => {
      signalProcess(-pid, "SIGKILL");
      unregisterFromExitCleanup(pid);
    });
  }
  return child;
}

/**
 * Stores the registered resources in a file, too, in case the cleanup process is also killed.
 * @param {string} file
 */
export function startPersistingCleanupResources(file) {
  resourceListFile = file;
  sendResourceList();
}

export function hasProcessCleanupStarted() {
  return isCleanupStarted;
}

/** Cleans up all registered resources, the last one first. Afterwards, no process can be started. */
export async function runRegisteredExitCleanup() {
  isCleanupStarted = true;
  const running = cleanupProcess;
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  await new Promise((resolve) => {
    running.ref();
    running.once("exit", resolve);
    running.stdin?.end();
  });
}

function throwIfCleaningUp() {
  if (isCleanupStarted) throw new LocalCommandUserError("Cannot start another process: this program is stopping.");
}

function sendResourceList() {
  if (isCleanupStarted) return;
  const resources = [...registeredResources.values()];
  cleanupProcess?.stdin?.write(`${JSON.stringify(resources)}\n`);
  if (resourceListFile === undefined) return;
  const record = {
    owner: readProcessIdentity(process.pid),
    cleanupProcess: cleanupProcess?.pid === undefined ? undefined : readProcessIdentity(cleanupProcess.pid),
    resources,
  };
  try {
    writeFileSync(`${resourceListFile}.unfinished`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${resourceListFile}.unfinished`, resourceListFile);
  } catch {
    // Errors such as a full disk must not stop the program, because the cleanup process also has the list.
  }
}

/** Starts the cleanup process. It gets no terminal signals, and it does not prevent this process from exiting. */
function startCleanupProcess() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("cleanup-process.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.stdin.on("error", () => {});
  child.once("exit", (_, signal) => {
    // If a signal has killed the cleanup process, a new cleanup process replaces it.
    if (isCleanupStarted || signal === null) return;
    cleanupProcess = startCleanupProcess();
    sendResourceList();
  });
  /** @type {import("node:net").Socket} */ (child.stdin).unref();
  return child;
}
