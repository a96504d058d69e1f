import { spawn, spawnSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { UserFacingError } from "./terminal.mjs";

/**
 * Identifies a process, also after another process has got the same process id.
 * @typedef {{ pid: number, startedAt: string }} ProcessIdentity
 */

/**
 * Returns when a running process was started, in a form that depends on the system; undefined when it has ended.
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
 * @param {number} pid of a running process
 * @returns {ProcessIdentity}
 */
export function readProcessIdentity(pid) {
  return { pid, startedAt: processStartOf(pid) ?? "ended" };
}

/** @param {ProcessIdentity} identity */
export function isProcessRunning({ pid, startedAt }) {
  return processStartOf(pid) === startedAt;
}

/**
 * Signals a process and waits until it has ended. After the timeout it is killed.
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
    for (const deadline = Date.now() + waitMs; isProcessRunning(identity) && Date.now() < deadline; ) await sleep(20);
  }
}

/**
 * Signals a process or a process group; does nothing when it has ended.
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

/**
 * Registers a resource to be cleaned up when this process ends, however it ends.
 * @param {CleanupResource} resource
 */
export function registerForCleanup(resource) {
  throwIfCleaningUp();
  registeredResources.set(resource.id, resource);
  cleanupProcess ??= startCleanupProcess();
  sendResourceList();
}

/**
 * Unregisters a resource that no longer exists.
 * @param {number | string} id
 */
export function unregisterFromCleanup(id) {
  if (registeredResources.delete(id)) sendResourceList();
}

/**
 * Starts a process in a new process group, which Ctrl-C in the terminal does not reach. The group is ended when the
 * process or this process ends.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} [end] the signal to stop it, and the time until it is killed
 */
export function spawnWithCleanup(command, args, options, { signal = "SIGTERM", timeoutMs = 10_000 } = {}) {
  throwIfCleaningUp();
  const child = spawn(command, args, { ...options, detached: true });
  const { pid } = child;
  if (pid !== undefined) {
    registerForCleanup({ kind: "process", id: pid, identity: readProcessIdentity(pid), signal, timeoutMs });
    child.once("exit", () => {
      signalProcess(-pid, "SIGKILL");
      unregisterFromCleanup(pid);
    });
  }
  return child;
}

/**
 * Stores the registered resources and their owner in a file, too, in case the cleanup process is killed.
 * @param {string} file
 */
export function persistCleanupList(file) {
  resourceListFile = file;
  sendResourceList();
}

/** Whether the cleanup has begun, so that the end of a server is expected. */
export function hasProcessCleanupStarted() {
  return isCleanupStarted;
}

/** Cleans up all registered resources, the last one first. Nothing can be started afterwards. */
export async function cleanUpResourcesAndWait() {
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
  if (isCleanupStarted) throw new UserFacingError("Cannot start another process: this program is stopping.");
}

function sendResourceList() {
  if (isCleanupStarted) return;
  const resources = [...registeredResources.values()];
  cleanupProcess?.stdin?.write(`${JSON.stringify(resources)}\n`);
  const record = { owner: readProcessIdentity(process.pid), resources };
  if (resourceListFile === undefined) return;
  try {
    writeFileSync(`${resourceListFile}.unfinished`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${resourceListFile}.unfinished`, resourceListFile);
  } catch {
    // A full disk must not stop the program. The cleanup process has the list, too.
  }
}

/** Starts the cleanup process: detached from terminal signals, and unreferenced, so that this process can exit. */
function startCleanupProcess() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("cleanup-process.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  child.stdin.on("error", () => {});
  child.once("exit", (_, signal) => {
    // It was killed, so it is replaced.
    if (isCleanupStarted || signal === null) return;
    cleanupProcess = startCleanupProcess();
    sendResourceList();
  });
  /** @type {import("node:net").Socket} */ (child.stdin).unref();
  return child;
}
