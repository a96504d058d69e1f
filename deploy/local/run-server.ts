import type { SpawnOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { dockerVolumeFile, ignoreMissingContainer, loadContainerRuntime, removeContainer } from "./data-folder.mjs";
import { isPortFree } from "./free-port.ts";
import { isCleaningUp, registerForCleanup, spawnWithCleanup, unregisterFromCleanup } from "./process-cleanup.mjs";
import { lastLinesOf } from "./run-command.mjs";
import { readOrCreateFile } from "./state-folder.ts";
import { UserFacingError } from "./terminal.mjs";

/** How to start a server. */
export interface ServerLaunch {
  command: string;
  args: string[];
  /** Instead of this process's, with English messages. */
  env?: NodeJS.ProcessEnv;
  /** When not this process's. */
  user?: { uid: number; gid: number } | undefined;
  /** Runs it in a container, which has the server's folder in the same place, read-only, and its data in a volume. */
  container?: { image: string; dataPath: string; folder: string };
}

export interface ServerProcessOptions extends ServerLaunch {
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

const stopDefaults = { stopSignal: "SIGTERM" as NodeJS.Signals, stopTimeoutMs: 20_000 };

/** What starts an instance is told. */
export type ResolvedServerProcessOptions = ServerProcessOptions & typeof stopDefaults;

/** A server that has been started: what a process and a container have in common. */
export interface ServerInstance {
  pid: number;
  /** Resolves to how it ended. */
  ended: Promise<string>;
  /** Signals it, unless it has ended. */
  sendSignal(signal: NodeJS.Signals): unknown;
}

/** It can be told SIGSTOP, so that it takes connections and answers nobody until SIGCONT. */
export interface RunningServer extends ServerInstance {
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
export async function launchServer(options: ServerProcessOptions): Promise<RunningServer> {
  const plan = { ...stopDefaults, ...options };
  const { name, logFile, port, log } = plan;
  if (port !== undefined && !(await isPortFree(port)))
    throw new UserFacingError(`${name} cannot listen on port ${port}: another program does.`);
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const logFrom = rotateLogFile(logFile, maxLogBytes.atStart);
  const failure = (problem: string) =>
    new UserFacingError(`${name} did not come up: ${problem}. ${describeLogEnd(logFile, logFrom)}`);
  const start = plan.container === undefined ? startProgram : startContainer;
  const { pid, ended, sendSignal } = await start(plan).catch((error) => {
    throw failure(error.message);
  });
  const rotation = setInterval(rotateLogFile, rotateLogEveryMs, logFile, maxLogBytes.later).unref();
  void ended.then(() => clearInterval(rotation));

  let isStopping = false;
  const stopWith = async (signal: NodeJS.Signals) => {
    isStopping = true;
    await sendSignal(signal);
    const timer = setTimeout(sendSignal, plan.stopTimeoutMs, "SIGKILL");
    await ended;
    clearTimeout(timer);
  };
  const problem = await waitUntilReady(plan.isReady, ended);
  if (problem !== undefined) {
    await stopWith("SIGKILL");
    throw failure(problem);
  }
  void ended.then((how) => {
    if (!isStopping && !isCleaningUp()) log(`${name} ended by itself (${how}). ${describeLogEnd(logFile, logFrom)}`);
  });
  return { pid, ended, sendSignal, stop: () => stopWith(plan.stopSignal), kill: () => stopWith("SIGKILL") };
}

async function startProgram(plan: ResolvedServerProcessOptions): Promise<ServerInstance> {
  const { command, args, env = { ...process.env, LC_ALL: "C", TZ: "UTC" }, user, logFile } = plan;
  const output = openSync(logFile, "a", 0o600);
  const options: SpawnOptions = { cwd: "/", env, stdio: ["ignore", output, output], ...user };
  const child = spawnWithCleanup(command, args, options, { signal: plan.stopSignal, timeoutMs: plan.stopTimeoutMs });
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
  return { pid: child.pid, ended, sendSignal: send };
}

/** Waits until a server is ready. Returns why it will not be; undefined when it is. */
async function waitUntilReady(isReady: () => Promise<boolean>, ended: Promise<string>): Promise<string | undefined> {
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
export async function isUrlOk(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await reply.body?.cancel();
    return reply.ok;
  } catch {
    return false;
  }
}

/** Starts a private server in a container, whose port is published on the loopback interface. */
async function startContainer(plan: ResolvedServerProcessOptions): Promise<ServerInstance> {
  const { logFile, port, env = {}, container = { image: "", dataPath: "", folder: "" } } = plan;
  const { ImageName } = await import("testcontainers");
  const { container: client, image: images } = await loadContainerRuntime();
  const imageName = ImageName.fromString(container.image);
  await images.pull(imageName);
  const name = readOrCreateFile(join(container.folder, dockerVolumeFile), () => `pragma-${randomUUID()}`);
  await removeContainer(name);
  // The guard ends it with this process: testcontainers' reaper would be a container that may command Docker.
  registerForCleanup({ kind: "container", id: name });
  const end = () => removeContainer(name).finally(() => unregisterFromCleanup(name));
  try {
    const created = await client.create({
      name,
      Image: imageName.string,
      Labels: { "pragma.folder": container.folder },
      Entrypoint: [plan.command],
      Cmd: plan.args,
      Env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      StopSignal: plan.stopSignal,
      ExposedPorts: { [`${port}/tcp`]: {} },
      HostConfig: {
        Binds: [`${name}:${container.dataPath}`, `${container.folder}:${container.folder}:ro`],
        PortBindings: { [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      },
    });
    await client.start(created);
    const logged = pipeline(await client.logs(created), createWriteStream(logFile, { flags: "a", mode: 0o600 }));
    const ended = Promise.all([created.wait(), logged]).then(
      ([{ StatusCode }]) => `exit code ${StatusCode}`,
      (error: Error) => error.message,
    );
    return {
      pid: (await client.inspect(created)).State.Pid,
      ended: ended.finally(end),
      // It may have ended.
      sendSignal: (signal) => created.kill({ signal }).catch(ignoreMissingContainer),
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Once a log is as large as this, moves what it holds to a file beside it, in place of what was moved before. Whoever
 * writes it must append. Returns the size that is left.
 */
export function rotateLogFile(file: string, maxBytes: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return size;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}

/** The last lines of a log past this many bytes, under a line that says where it is. */
export function describeLogEnd(file: string, from: number): string {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const text = bytes.toString("utf8", from <= bytes.length ? from : 0).trimEnd();
  return text === "" ? `Its log ${file} is empty.` : `The end of its log ${file}:\n${lastLinesOf(text)}`;
}
