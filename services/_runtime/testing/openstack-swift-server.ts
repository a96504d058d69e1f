import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const swiftServerScript = fileURLToPath(new URL("swift-server.py", import.meta.url));
/** The path of Debian's own Python, because only this Python finds packages that apt-get installed. */
const python = "/usr/bin/python3";
/** The Debian package that contains the Swift servers as a library. It starts no system services. */
const debianPackage = "python3-swift";
const startTimeoutMs = 30_000;
const stopTimeoutMs = 5_000;

export interface TestOpenStackSwiftServer {
  /** The URL of the server's S3 interface, such as `http://127.0.0.1:40123`. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

/** Installs OpenStack Swift if necessary. Returns the reason if Swift cannot be used, otherwise undefined. */
export async function installSwiftOrGetFailureReason(): Promise<string | undefined> {
  if (await isSwiftInstalled()) return undefined;
  const canInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version");
  if (!canInstall) return `Debian's ${debianPackage} is not installed, and this is not root on Debian to install it`;
  process.stderr.write(`Installing ${debianPackage}, an S3 server for tests\n`);
  try {
    await aptGet("install", debianPackage).catch(async () => {
      await aptGet("update");
      await aptGet("install", debianPackage);
    });
  } catch (error) {
    return `apt-get could not install ${debianPackage}: ${error instanceof Error ? error.message.trim() : error}`;
  }
  return (await isSwiftInstalled()) ? undefined : `${python} cannot use the installed ${debianPackage}`;
}

/**
 * Starts an empty OpenStack Swift with an S3 interface as a child process, on free ports of 127.0.0.1. The child
 * process ends when its parent ends.
 *
 * @throws `Error` that contains the output of the child process, when it does not start.
 */
export async function startTestOpenStackSwiftServer(): Promise<TestOpenStackSwiftServer> {
  const folder = await mkdtemp(join(tmpdir(), "swift-"));
  const accessKeyId = "test:tester";
  const secretAccessKey = randomBytes(16).toString("hex");
  const server = spawn(python, [swiftServerScript, folder, accessKeyId, secretAccessKey]);
  const ended = once(server, "exit");
  const port = await readPrintedPort(server);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId,
    secretAccessKey,
    async stop() {
      const deadline = setTimeout(() => server.kill("SIGKILL"), stopTimeoutMs);
      server.stdin.end();
      await ended;
      clearTimeout(deadline);
    },
  };
}

async function isSwiftInstalled(): Promise<boolean> {
  return run(python, ["-c", "import eventlet, swift.proxy.server"]).then(
    () => true,
    () => false,
  );
}

async function aptGet(...command: string[]): Promise<void> {
  const options = ["-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"];
  await run("apt-get", [...options, ...command], { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
}

async function readPrintedPort(server: ChildProcessWithoutNullStreams): Promise<number> {
  let errors = "";
  server.stderr.on("data", (chunk: Buffer) => {
    errors += chunk;
  });
  const deadline = setTimeout(() => server.kill("SIGKILL"), startTimeoutMs);
  try {
    const [line] = await Promise.race([once(server.stdout, "data"), once(server, "close").then(() => [""])]);
    const port = Number(line);
    if (!port) throw new Error(`Swift did not start: ${errors.trim()}`);
    return port;
  } finally {
    clearTimeout(deadline);
  }
}
