import type { SpawnOptions } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startContainer } from "./container.ts";
import { Failure } from "./failure.mjs";
import { isPortFree } from "./free-port.ts";
import { isEnding, spawnGuarded } from "./guarded.mjs";
import { endOfLog, rotateLog } from "./log-file.ts";

/** How to start a server. */
export interface Launch {
  command: string;
  args: string[];
  /** Instead of this process's, with English messages. */
  env?: NodeJS.ProcessEnv;
  /** When not this process's. */
  user?: { uid: number; gid: number } | undefined;
  /** Runs it in a container, which has the server's folder in the same place, read-only, and its data in a volume. */
  container?: { image: string; dataPath: string; folder: string };
}

export interface ServerPlan extends Launch {
  /** As people call it: "PostgreSQL". */
  name: string;
  /** Its folder is made when absent. */
  logFile: string;
  /** Where it listens, if it does. */
  port?: number;
  isReady(): Promise<boolean>;
  /** Default: SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** How long it may take to stop before it is killed; default 20 s. */
  stopTimeoutMs?: number;
  /** Receives what a person should know: that it ended by itself. */
  log(line: string): void;
}

const defaults = { stopSignal: "SIGTERM" as NodeJS.Signals, stopTimeoutMs: 20_000 };

/** What starts an instance is told. */
export type CompletePlan = ServerPlan & typeof defaults;

/** A server that has been started: what a process and a container have in common. */
export interface Instance {
  pid: number;
  /** Resolves to how it ended. */
  ended: Promise<string>;
  /** Signals it, unless it has ended. */
  send(signal: NodeJS.Signals): unknown;
}

/** It can be told SIGSTOP, so that it takes connections and answers nobody until SIGCONT. */
export interface RunningServer extends Instance {
  /** Ends it gracefully and waits until it has ended; past its time it is killed. */
  stop(): Promise<void>;
  /** SIGKILL, as a power cut: waits until it is gone; the data stays. */
  kill(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const maxLogBytes = { atStart: 2 ** 20, later: 32 * 2 ** 20 };
const rotateLogEveryMs = 60_000;

/**
 * Starts a private server and waits until it is ready. It ends with this process, whatever ends that.
 *
 * @throws Failure with the last lines of its log, when it does not come up within a minute.
 */
export async function runServer(given: ServerPlan): Promise<RunningServer> {
  const plan = { ...defaults, ...given };
  const { name, logFile, port, log } = plan;
  if (port !== undefined && !(await isPortFree(port)))
    throw new Failure(`${name} cannot listen on port ${port}: another program does.`);
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const logFrom = rotateLog(logFile, maxLogBytes.atStart);
  const failure = (problem: string) =>
    new Failure(`${name} did not come up: ${problem}. ${endOfLog(logFile, logFrom)}`);
  const start = plan.container === undefined ? startProgram : startContainer;
  const { pid, ended, send } = await start(plan).catch((error) => {
    throw failure(error.message);
  });
  const rotation = setInterval(rotateLog, rotateLogEveryMs, logFile, maxLogBytes.later).unref();
  void ended.then(() => clearInterval(rotation));

  let isStopping = false;
  const endBy = async (signal: NodeJS.Signals) => {
    isStopping = true;
    await send(signal);
    const timer = setTimeout(send, plan.stopTimeoutMs, "SIGKILL");
    await ended;
    clearTimeout(timer);
  };
  const problem = await whyNotReady(plan.isReady, ended);
  if (problem !== undefined) {
    await endBy("SIGKILL");
    throw failure(problem);
  }
  void ended.then((how) => {
    if (!isStopping && !isEnding()) log(`${name} ended by itself (${how}). ${endOfLog(logFile, logFrom)}`);
  });
  return { pid, ended, send, stop: () => endBy(plan.stopSignal), kill: () => endBy("SIGKILL") };
}

async function startProgram(plan: CompletePlan): Promise<Instance> {
  const { command, args, env = { ...process.env, LC_ALL: "C", TZ: "UTC" }, user, logFile } = plan;
  const output = openSync(logFile, "a", 0o600);
  const options: SpawnOptions = { cwd: "/", env, stdio: ["ignore", output, output], ...user };
  const child = spawnGuarded(command, args, options, { signal: plan.stopSignal, timeoutMs: plan.stopTimeoutMs });
  closeSync(output);
  // It does not keep this process running.
  child.unref();
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  if (child.pid === undefined) throw new Error(await ended);
  const send = (signal: NodeJS.Signals) => {
    child.ref();
    child.kill(signal);
  };
  return { pid: child.pid, ended, send };
}

/** Waits until a server is ready. Returns why it will not be; undefined when it is. */
async function whyNotReady(isReady: () => Promise<boolean>, ended: Promise<string>): Promise<string | undefined> {
  let ending: string | undefined;
  void ended.then((how) => {
    ending = `it ended (${how})`;
  });
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await sleep(25)) {
    const ready = await isReady();
    // Another program may answer on the port that this one could not have.
    if (ending !== undefined) return ending;
    if (ready) return undefined;
  }
  return `it was not ready within ${readyTimeoutMs / 1000} s`;
}

/** Whether there is a success at this address. */
export async function answersOk(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await reply.body?.cancel();
    return reply.ok;
  } catch {
    return false;
  }
}
