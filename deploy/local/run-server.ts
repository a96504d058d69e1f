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
import { get, type IncomingMessage } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import {
  dockerVolumeNameFile,
  ignoreMissingContainer,
  loadDockerClient,
  removeDockerContainer,
} from "./data-folder.mjs";
import { isPortFree } from "./free-port.ts";
import { formatLogLine } from "./log-line.ts";
import {
  hasProcessCleanupStarted,
  registerForExitCleanup,
  spawnProcessWithExitCleanup,
  unregisterFromExitCleanup,
} from "./process-cleanup.mjs";
import { getIndentedLastLines } from "./run-command.mjs";
import { readOrCreateFile } from "./state-folder.ts";
import { LocalCommandUserError } from "./terminal.mjs";

export interface ServerLaunchSpec {
  command: string;
  args: string[];
  /** Default: the variables of this process with the locale C and the time zone UTC; none in a container. */
  env?: NodeJS.ProcessEnv;
  user?: { uid: number; gid: number } | undefined;
  /** If set, the server runs in a container. `folder` is mounted read-only at the same path. Data is in a volume. */
  container?: { image: string; dataPath: string; folder: string };
}

export interface ServerProcessOptions extends ServerLaunchSpec {
  name: string;
  /** The path of the log file. The folder of the file is created if necessary. */
  logFile: string;
  port?: number;
  isReady(): Promise<boolean>;
  /** Called when the server has been launched, before it is ready. */
  onLaunch?(): void;
  /** Called repeatedly until the server is ready, with the new lines of its log. May show what the server does. */
  onLogged?(text: string): void;
  stopSignal?: NodeJS.Signals;
  /** Milliseconds after which a server that does not stop is killed. Default: 20,000. */
  stopTimeoutMs?: number;
  /** Milliseconds without a new line in the log after which a server that is not ready is given up. */
  silenceTimeoutMs?: number;
  log(line: string): void;
}

const stopDefaults = { stopSignal: "SIGTERM" as NodeJS.Signals, stopTimeoutMs: 20_000 };

export type ResolvedServerProcessOptions = ServerProcessOptions & typeof stopDefaults;

export interface LocalServerInstance {
  pid: number;
  /** Resolves when the server has ended, to a text with the exit code or signal. */
  ended: Promise<string>;
  sendSignal(signal: NodeJS.Signals): unknown;
}

/** A server that is ready. Between SIGSTOP and SIGCONT, it does not respond, but its connections remain open. */
export interface RunningServer extends LocalServerInstance {
  /** Stops the server gracefully and waits until it has ended. Kills the server after the timeout. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const defaultSilenceTimeoutMs = 10 * 60_000;
const maxLogBytes = { atStart: 2 ** 20, later: 32 * 2 ** 20 };
const rotateLogEveryMs = 60_000;
const maxShownLogLines = 15;

/**
 * Starts a server, which is stopped when this process ends for any reason, and waits until it is ready.
 *
 * @throws `LocalCommandUserError` if it cannot be started, ends, or is not ready ten minutes after the last line in its log.
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
  plan.onLaunch?.();
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
  const problem = await waitUntilReady(plan, { ended, logFrom });
  if (problem !== undefined) {
    await stopWith("SIGKILL");
    throw failure(problem);
  }
  void ended.then((reason) => {
    if (isStopping || hasProcessCleanupStarted()) return;
    log(`${describeUnexpectedEnd(name, reason)} ${describeLogEnd(logFile, logFrom)}`);
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

/** Waits while a server logs something. Returns the problem if it ends, or if nothing happens for long. */
async function waitUntilReady(
  { isReady, logFile, onLogged = () => {}, silenceTimeoutMs = defaultSilenceTimeoutMs }: ServerProcessOptions,
  { ended, logFrom }: { ended: Promise<string>; logFrom: number },
): Promise<string | undefined> {
  let exitDescription: string | undefined;
  void ended.then((reason) => {
    exitDescription = `it exited (${reason})`;
  });
  const startedAt = Date.now();
  let loggedAt = startedAt;
  let readFrom = logFrom;
  for (;;) {
    const ready = await isReady();
    // Checked before `ready`: if this server has ended because its port is in use, another program has responded.
    if (exitDescription !== undefined) return exitDescription;
    if (ready) return undefined;
    const now = Date.now();
    const logged = readLog(logFile).subarray(readFrom);
    if (logged.length > 0) {
      loggedAt = now;
      readFrom += logged.length;
      onLogged(logged.toString("utf8"));
    }
    if (now - loggedAt > silenceTimeoutMs)
      return `it is not ready, and has logged nothing for ${silenceTimeoutMs / 1_000} s`;
    // Rarer checks later, because they slow down a server that starts on a busy machine.
    await sleep(Math.min(250, Math.max(25, (now - startedAt) / 20)));
  }
}

/** Returns a response to a GET request, if there is one within five seconds. Unlike fetch, connects to all ports. */
export function getUrl(url: string): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const onResponse = (response: IncomingMessage) =>
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, body }),
        () => resolve(undefined),
      );
    get(url, { agent: false, signal: AbortSignal.timeout(5_000) }, onResponse).on("error", () => resolve(undefined));
  });
}

export const isUrlOk = async (url: string) => (await getUrl(url))?.status === 200;

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
      sendSignal: (signal) => container.kill({ signal }).catch(ignoreMissingContainer),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Moves a full log to `<file>.1`, and returns its remaining size. Its writer must have opened it for appending. */
export function rotateLogFile(file: string, maxBytes: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return size;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}

const readLog = (file: string) => (existsSync(file) ? readFileSync(file) : Buffer.alloc(0));

/** Without a fault, a server ends only if it is told to, here by another program than this one. */
const describeUnexpectedEnd = (name: string, reason: string) =>
  reason === "exit code 0"
    ? `${name} has shut down in good order (exit code 0): another program has probably stopped it, for example with kill.`
    : `${name} exited unexpectedly (${reason}).`;

/** Returns the path and the last lines of a log for people, without the first `from` bytes if it still has them. */
export function describeLogEnd(file: string, from: number): string {
  const bytes = readLog(file);
  const text = bytes.toString("utf8", from <= bytes.length ? from : 0).trimEnd();
  if (text === "") return `The log ${file} is empty.`;
  const lines = text.split("\n").slice(-maxShownLogLines).map(formatLogLine);
  return `The end of the log ${file}:\n${getIndentedLastLines(lines.join("\n"), maxShownLogLines)}`;
}
