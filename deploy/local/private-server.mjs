import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "./failure.mjs";
import { freePort, isPortFree } from "./free-port.mjs";
import { guardProcess, releaseProcess } from "./guarded.mjs";
import { beginLog, boundLog, endOfLog } from "./log-file.mjs";
import { endProcess, knownProcess, send } from "./process-identity.mjs";
import { endLeftOver, removeRecord, writeRecord } from "./server-record.mjs";

/**
 * @typedef {object} Launch
 * @property {string} command
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env] instead of this process's, with English messages
 * @property {{ uid: number, gid: number }} [user] when not this process's
 */
/**
 * @typedef {object} ServerPlan
 * @property {string} name as people call it: "PostgreSQL"
 * @property {string} folder absolute; the record of its process lies here
 * @property {string} [logFile] default: `server.log` in the folder
 * @property {number | undefined} port undefined: any free one
 * @property {(port: number) => Launch} launch
 * @property {(port: number) => Promise<boolean>} isReady
 * @property {NodeJS.Signals} stopSignal
 * @property {number} [stopWithinMs] how long it may take to stop before it is killed; default 20 s
 * @property {(line: string) => void} log receives what a person should know
 * @property {(story: string) => void} [onEnd] told when it ends by itself; default: `log` is
 */
/** @typedef {Omit<import("./servers.d.mts").RunningServer, "url">} RunningServer */

export const readyWithinMs = 60_000;
export const usualStopWithinMs = 20_000;

/**
 * Starts a private server and waits until it is ready. It ends with this process, whatever ends that. `stop` ends it
 * gracefully, `kill` as a power cut would; both wait until it has ended. A server of the same folder that an ended
 * process left behind is ended first.
 * @param {ServerPlan} plan
 * @returns {Promise<RunningServer>}
 * @throws {Failure} with the last lines of its log, when it does not come up within a minute
 */
export async function runServer(plan) {
  const { name, folder, log, stopSignal, stopWithinMs = usualStopWithinMs, onEnd = log } = plan;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await endLeftOver({ name, folder, log, stopWithinMs });
  const port = await portFor(plan);
  const launch = plan.launch(port);
  const logFile = plan.logFile ?? join(folder, "server.log");
  const logFrom = beginLog(logFile);
  const { child, ended } = spawnLogged(launch, logFile);
  void ended.then(boundLog(logFile));
  if (child.pid === undefined) throw new Failure(`${name} cannot be started: ${await ended}`);
  const known = knownProcess(child.pid);
  guardProcess(known, stopSignal);

  let stopping = false;
  const forget = () => {
    releaseProcess(known);
    removeRecord(folder);
  };
  /** @param {() => unknown} end */
  const endBy = async (end) => {
    stopping = true;
    child.ref();
    await end();
    await ended;
    forget();
  };
  const stop = () => endBy(() => endProcess(known, stopSignal, stopWithinMs));
  const kill = () => endBy(() => send(known, "SIGKILL"));

  try {
    writeRecord(folder, { server: known, stopSignal, owner: knownProcess(process.pid) });
    const problem = await waitUntilReady(() => plan.isReady(port), ended);
    if (problem !== undefined) throw new Failure(`${name} did not come up: ${problem}. ${endOfLog(logFile, logFrom)}`);
  } catch (error) {
    await kill();
    throw error;
  }
  void ended.then((how) => {
    if (stopping) return;
    forget();
    onEnd(`${name} ended by itself (${how}). ${endOfLog(logFile, logFrom)}`);
  });
  const hang = () => send(known, "SIGSTOP");
  const resume = () => send(known, "SIGCONT");
  return { pid: known.pid, port, stop, kill, hang, resume };
}

/**
 * @param {Pick<ServerPlan, "name" | "port">} plan
 * @returns {Promise<number>} the port that is asked for, else a free one
 * @throws {Failure} when another program has it
 */
export async function portFor({ name, port }) {
  if (port === undefined) return freePort();
  if (!(await isPortFree(port))) throw new Failure(`${name} cannot listen on port ${port}: another program does.`);
  return port;
}

/**
 * Its own session, so that Ctrl-C in the terminal reaches it only through its owner; unreferenced, so that it does not
 * keep its owner running.
 * @param {Launch} launch
 * @param {string} logFile
 */
function spawnLogged({ command, args, user, env = { ...process.env, LC_ALL: "C", TZ: "UTC" } }, logFile) {
  const output = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(command, args, { cwd: "/", detached: true, env, stdio: ["ignore", output, output], ...user });
    child.unref();
    /** @type {Promise<string>} how it ended */
    const ended = new Promise((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    return { child, ended };
  } finally {
    closeSync(output);
  }
}

/**
 * @param {() => Promise<boolean>} isReady
 * @param {Promise<string>} ended
 * @returns {Promise<string | undefined>} why it will not be ready
 */
async function waitUntilReady(isReady, ended) {
  const deadline = Date.now() + readyWithinMs;
  /** @type {string | undefined} */
  let ending;
  void ended.then((how) => {
    ending = `it ended (${how})`;
  });
  while (Date.now() < deadline) {
    const ready = await isReady();
    // Another program may answer on the port that this one could not have.
    if (ending !== undefined) return ending;
    if (ready) return undefined;
    await sleep(25);
  }
  return `it was not ready within ${readyWithinMs / 1000} s`;
}
