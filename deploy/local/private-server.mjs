import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./failure.mjs";
import { freePort, isPortFree } from "./free-port.mjs";
import { guardProcess, releaseProcess } from "./guarded.mjs";
import { endProcess, isRunning, knownProcess, send } from "./process-identity.mjs";

/** @typedef {import("./process-identity.mjs").KnownProcess} KnownProcess */
/**
 * @typedef {object} Launch
 * @property {string} command
 * @property {string[]} args
 * @property {{ uid: number, gid: number }} [user] when not this process's
 * @property {() => void} [cleanUp] removes what a killed command leaves behind
 */
/**
 * @typedef {object} ServerPlan
 * @property {string} name as people call it: "PostgreSQL"
 * @property {string} folder absolute; its record, its log and its data lie here
 * @property {number | undefined} port undefined: any free one
 * @property {(port: number) => Launch} launch
 * @property {(port: number, pid: number) => Promise<boolean>} isReady
 * @property {NodeJS.Signals} stopSignal
 * @property {(line: string) => void} log
 */
/** @typedef {{ pid: number, port: number, stop: () => Promise<void>, kill: () => Promise<void> }} RunningServer */

const readyWithinMs = 60_000;
const stopWithinMs = 20_000;
const logLimitBytes = 2 ** 20;

/**
 * Starts a private server and waits until it is ready. It listens on the loopback interface, writes its log to
 * `server.log` in its folder, and ends with this process, whatever ends that. `stop` ends it gracefully, `kill` as a
 * power cut would; both wait until it has ended. A server of the same folder that an ended process left behind is
 * ended first.
 * @param {ServerPlan} plan
 * @returns {Promise<RunningServer>}
 * @throws {Failure} with the last lines of its log, when it does not come up within a minute
 */
export async function runServer(plan) {
  const { name, folder, log } = plan;
  mkdirSync(folder, { recursive: true });
  await endLeftOver(plan);
  const port = plan.port ?? (await freePort());
  if (plan.port !== undefined && !(await isPortFree(port)))
    throw new Failure(`${name} cannot listen on port ${port}: another program does.`);

  const launch = plan.launch(port);
  launch.cleanUp?.();
  const logFile = join(folder, "server.log");
  const logFrom = startOfLog(logFile);
  const child = spawnLogged(launch, logFile);
  let stopping = false;
  /** @type {string | undefined} */
  let ending;
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  void ended.then((how) => {
    ending = how;
  });
  if (child.pid === undefined) throw new Failure(`${name} cannot be started: ${await ended}`);
  const known = knownProcess(child.pid);
  writeRecord(folder, { server: known, stopSignal: plan.stopSignal, owner: knownProcess(process.pid) });
  guardProcess(known, plan.stopSignal);

  const forget = () => {
    releaseProcess(known);
    rmSync(recordFile(folder), { force: true });
  };
  /** @param {() => Promise<unknown>} end */
  const endedBy = async (end) => {
    stopping = true;
    if (ending === undefined) {
      child.ref();
      await end();
      await ended;
    }
    launch.cleanUp?.();
    forget();
  };
  const stop = () => endedBy(() => endProcess(known, plan.stopSignal, stopWithinMs));
  const kill = () => endedBy(async () => (launch.cleanUp ?? (() => send(known, "SIGKILL")))());

  const deadline = Date.now() + readyWithinMs;
  while (!(await plan.isReady(port, known.pid))) {
    const late = Date.now() > deadline;
    if (ending === undefined && !late) {
      await sleep(25);
      continue;
    }
    const cause = ending === undefined ? `it was not ready within ${readyWithinMs / 1000} s` : `it ended (${ending})`;
    await kill();
    throw new Failure(`${name} did not come up: ${cause}. The end of ${logFile}:\n${lastLines(logFile, logFrom)}`);
  }
  void ended.then(() => {
    if (stopping) return;
    forget();
    log(`${name} ended by itself (${ending}). The end of ${logFile}:\n${lastLines(logFile, logFrom)}`);
  });
  return { pid: known.pid, port, stop, kill };
}

/**
 * Its own session, so that Ctrl-C in the terminal reaches it only through its owner; unreferenced, so that it does not
 * keep its owner running.
 * @param {Launch} launch
 * @param {string} logFile
 */
function spawnLogged({ command, args, user }, logFile) {
  const output = openSync(logFile, "a");
  try {
    const child = spawn(command, args, {
      cwd: "/",
      detached: true,
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      stdio: ["ignore", output, output],
      ...user,
    });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

/**
 * @param {ServerPlan} plan
 */
async function endLeftOver({ name, folder, log }) {
  const record = readRecord(folder);
  if (record === undefined) return;
  if (isRunning(record.server)) {
    if (isRunning(record.owner))
      throw new Failure(
        `${name} already runs on ${folder}, started by process ${record.owner.pid}. Stop that one first.`,
      );
    log(`Stopping the ${name} that an earlier run left behind.`);
    await endProcess(record.server, record.stopSignal, stopWithinMs);
  }
  rmSync(recordFile(folder), { force: true });
}

/** @typedef {{ server: KnownProcess, stopSignal: NodeJS.Signals, owner: KnownProcess }} ServerRecord */

/**
 * @param {string} folder
 * @returns {string}
 */
function recordFile(folder) {
  return join(folder, "server.json");
}

/**
 * @param {string} folder
 * @param {ServerRecord} record
 */
function writeRecord(folder, record) {
  writeFileSync(recordFile(folder), JSON.stringify(record));
}

/**
 * @param {string} folder
 * @returns {ServerRecord | undefined} undefined too when the record was cut short: its process never got to run
 */
function readRecord(folder) {
  if (!existsSync(recordFile(folder))) return undefined;
  try {
    return JSON.parse(readFileSync(recordFile(folder), "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Empties a log that has grown large.
 * @param {string} logFile
 * @returns {number} where this run's part begins, in bytes
 */
function startOfLog(logFile) {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size < logLimitBytes) return size;
  rmSync(logFile);
  return 0;
}

/**
 * The last lines of a log, indented for showing.
 * @param {string} logFile
 * @param {number} [from] in bytes
 * @returns {string}
 */
export function lastLines(logFile, from = 0) {
  if (!existsSync(logFile)) return "  (no log)";
  const lines = readFileSync(logFile).subarray(from).toString("utf8").trimEnd().split("\n").slice(-15);
  return lines.map((line) => `  ${line}`).join("\n");
}
