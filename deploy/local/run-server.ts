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
import {
  dockerVolumeNameFile,
  ignoreMissingContainer,
  loadDockerClient,
  removeDockerContainer,
} from "./data-folder.mjs";
import { isPortFree } from "./free-port.ts";
import {
  hasProcessCleanupStarted,
  registerForExitCleanup,
  spawnProcessWithExitCleanup,
  unregisterFromExitCleanup,
} from "./process-cleanup.mjs";
import { getIndentedLastLines } from "./run-command.mjs";
import { readOrCreateFile } from "./state-folder.ts";
import { LocalCommandUserError } from "./terminal.mjs";

/** How to start a server: as a program, or in a container. */
export interface ServerLaunchSpec {
  command: string;
  args: string[];
  /**
   * The environment of the program. Default: the environment of this process with the locale C and the time zone UTC,
   * or no variables in a container.
   */
  env?: NodeJS.ProcessEnv;
  /** The user who runs the program. Default: the user of this process. */
  user?: { uid: number; gid: number } | undefined;
  /** If set, the server runs in a container. `folder` is mounted read-only at the same path. Data is in a volume. */
  container?: { image: string; dataPath: string; folder: string };
}

export interface ServerProcessOptions extends ServerLaunchSpec {
  /** The name to display, such as "PostgreSQL". */
  name: string;
  /** The path of the log file. The folder of the file is created if necessary. */
  logFile: string;
  /** The port on which the server listens, if any. */
  port?: number;
  isReady(): Promise<boolean>;
  /** The signal that stops the server. Default: SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** Milliseconds after which a server that does not stop is killed. Default: 20,000. */
  stopTimeoutMs?: number;
  /** Called with a message for the user if the server exits unexpectedly. */
  log(line: string): void;
}

const stopDefaults = { stopSignal: "SIGTERM" as NodeJS.Signals, stopTimeoutMs: 20_000 };

/** Process options with the defaults applied. */
export type ResolvedServerProcessOptions = ServerProcessOptions & typeof stopDefaults;

/** A started server, whether a process or a container. */
export interface LocalServerInstance {
  pid: number;
  /** Resolves when the server has ended, to a text with the exit code or signal. */
  ended: Promise<string>;
  /** Sends a signal to the server, unless the server has ended. */
  sendSignal(signal: NodeJS.Signals): unknown;
}

/** A server that is ready. Between SIGSTOP and SIGCONT, it does not respond, but its connections remain open. */
export interface RunningServer extends LocalServerInstance {
  /** Stops the server gracefully and waits until it has ended. Kills the server after the timeout. */
  stop(): Promise<void>;
  /** Kills the server with SIGKILL and waits until it has ended. The data is not removed. */
  kill(): Promise<void>;
}

const readyTimeoutMs = 60_000;
const maxLogBytes = { atStart: 2 ** 20, later: 32 * 2 ** 20 };
const rotateLogEveryMs = 60_000;

/**
 * Starts a server for this process and waits until the server is ready. The server is stopped when this process ends
 * for any reason.
 *
 * @throws `LocalCommandUserError` if the port is in use, or if the server cannot be started, ends, or is not ready
 * within one minute.
 */
export async function launchLocalServer(options: ServerProcessOptions): Promise<RunningServer> {
  const plan = { ...stopDefaults, ...options };
  const { name, logFile, port, log } = plan;
  if (port !== undefined && !(await isPortFree(port)))
    throw new LocalCommandUserError(`${name} cannot listen on port ${port}: another program uses it.`);
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  const logFrom = rotateLogFile(logFile, maxLogBytes.atStart);
  const failure = (problem: string) =>
    new LocalCommandUserError(`${name} did not start: ${problem}. ${describeLogEnd(logFile, logFrom)}`);
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
  void ended.then((reason) => {
    if (isStopping || hasProcessCleanupStarted()) return;
    log(`${name} exited unexpectedly (${reason}). ${describeLogEnd(logFile, logFrom)}`);
  });
  return { pid, ended, sendSignal, stop: () => stopWith(plan.stopSignal), kill: () => stopWith("SIGKILL") };
}

async function startProgram(plan: ResolvedServerProcessOptions): Promise<LocalServerInstance> {
  const { command, args, env = { ...process.env, LC_ALL: "C", TZ: "UTC" }, user, logFile } = plan;
  const output = openSync(logFile, "a", 0o600);
  const options: SpawnOptions = { cwd: "/", env, stdio: ["ignore", output, output], ...user };
  const child = spawnProcessWithExitCleanup(command, args, options, {
    signal: plan.stopSignal,
    timeoutMs: plan.stopTimeoutMs,
  });
  closeSync(output);
  // The server must not keep this process running.
  child.unref();
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  if (child.pid === undefined) throw new Error(await ended);
  const sendSignal = (signal: NodeJS.Signals) => {
    child.ref();
    child.kill(signal);
  };
  return { pid: child.pid, ended, sendSignal };
}

/** Waits until a server is ready. Returns a description of the problem if the server ends or the time runs out. */
async function waitUntilReady(isReady: () => Promise<boolean>, ended: Promise<string>): Promise<string | undefined> {
  let exitDescription: string | undefined;
  void ended.then((reason) => {
    exitDescription = `it exited (${reason})`;
  });
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await sleep(25)) {
    const ready = await isReady();
    // Checked before `ready`: if this server has ended because its port is in use, another program has responded.
    if (exitDescription !== undefined) return exitDescription;
    if (ready) return undefined;
  }
  return `it was not ready within ${readyTimeoutMs / 1000} s`;
}

/** Returns whether a GET request to this URL succeeds within 5 seconds. */
export async function isUrlOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Starts a server in a container, with its port published on the loopback interface. */
async function startContainer(plan: ResolvedServerProcessOptions): Promise<LocalServerInstance> {
  const { logFile, port, env = {}, container: settings = { image: "", dataPath: "", folder: "" } } = plan;
  const { ImageName } = await import("testcontainers");
  const { container: client, image: images } = await loadDockerClient();
  const imageName = ImageName.fromString(settings.image);
  await images.pull(imageName);
  const name = readOrCreateFile(join(settings.folder, dockerVolumeNameFile), () => `pragma-${randomUUID()}`);
  await removeDockerContainer(name);
  // The cleanup process removes the container, not the reaper of testcontainers, because the reaper is itself a
  // container and would need access to Docker from inside.
  registerForExitCleanup({ kind: "container", id: name });
  const remove = () => removeDockerContainer(name).finally(() => unregisterFromExitCleanup(name));
  try {
    const container = await client.create({
      name,
      Image: imageName.string,
      Labels: { "pragma.folder": settings.folder },
      Entrypoint: [plan.command],
      Cmd: plan.args,
      Env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      StopSignal: plan.stopSignal,
      ExposedPorts: { [`${port}/tcp`]: {} },
      HostConfig: {
        Binds: [`${name}:${settings.dataPath}`, `${settings.folder}:${settings.folder}:ro`],
        PortBindings: { [`${port}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      },
    });
    await client.start(container);
    const logged = pipeline(await client.logs(container), createWriteStream(logFile, { flags: "a", mode: 0o600 }));
    const ended = Promise.all([container.wait(), logged]).then(
      ([{ StatusCode }]) => `exit code ${StatusCode}`,
      (error: Error) => error.message,
    );
    return {
      pid: (await client.inspect(container)).State.Pid,
      ended: ended.finally(remove),
      // Does nothing if the container has already ended.
      sendSignal: (signal) => container.kill({ signal }).catch(ignoreMissingContainer),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Moves the contents of a log file to `<file>.1` if the file has reached the maximum size, and overwrites the previous
 * `<file>.1`. The writer of the log must have opened the file for appending. Returns the remaining size of the file.
 */
export function rotateLogFile(file: string, maxBytes: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return size;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}

/**
 * Returns the path of a log file and its last lines, for an error message. Skips the first `from` bytes, unless the
 * file is now shorter because it was rotated.
 */
export function describeLogEnd(file: string, from: number): string {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const text = bytes.toString("utf8", from <= bytes.length ? from : 0).trimEnd();
  return text === "" ? `The log ${file} is empty.` : `The end of the log ${file}:\n${getIndentedLastLines(text)}`;
}
