import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { eventually } from "@pragma/runtime/testing/eventually";
import { bundleFolder } from "../../deploy/local/bundle.js";
import { findFreePort } from "../../deploy/local/free-port.js";

/** The name of a service, or `gateway`. */
export type ProcessName = ServiceName | "gateway";
export const serviceAndGatewayNames: readonly ProcessName[] = ["gateway", ...serviceNames];

/** The part of the installation that a process runs. `all` means the gateway and all services. */
export type PragmaProcessRole = ProcessName | "all";

export interface PragmaProcessUnderTest {
  opsUrl: string;
  /** The id of the latest process; undefined before the first start. */
  readonly pid: number | undefined;
  /**
   * Starts the process with changed environment variables, and waits until the process is ready. The changes also apply
   * to later starts.
   */
  start(changes?: Record<string, string>): Promise<void>;
  /** Sends SIGKILL, and waits until the process has ended. */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM, and waits until the process has completed the requests in flight and ended. Rejects if the process
   * exits with a code other than 0.
   */
  stop(): Promise<void>;
}

export const mainProgram = join(bundleFolder, "services", "main.js");

/** Returns the name of the environment variable that contains the URL of a service. */
export function getServiceUrlVariableName(service: ServiceName): string {
  return `${service.toUpperCase().replaceAll("-", "_")}_URL`;
}

/**
 * Prepares a process without starting it. `urls` are the environment variables with the URLs of the services, and
 * `nodeArguments` start another version.
 */
export async function preparePragmaProcessUnderTest(
  role: PragmaProcessRole,
  variables: Record<string, string>,
  urls: Record<string, string>,
  nodeArguments: readonly string[] = [mainProgram],
): Promise<PragmaProcessUnderTest> {
  const opsPort = await findFreePort();
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  let current = variables;
  let child: ChildProcess | undefined;
  /** The end of the output, which is shown if the process ends during its start or exits with a code other than 0. */
  let output: string[] = [];

  async function terminate(signal: NodeJS.Signals): Promise<number | null> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? 0;
    const ended = once(child, "exit");
    child.kill(signal);
    const [code] = await ended;
    return code;
  }

  return {
    opsUrl,
    get pid() {
      return child?.pid;
    },
    async start(changes = {}) {
      current = { ...current, ...changes };
      child = spawn(process.execPath, nodeArguments, {
        env: {
          PATH: process.env.PATH,
          ...current,
          // `urls` can include the URL of this process, which has no effect, because a service does not call itself.
          ...urls,
          ...(role !== "all" && { SERVICE: role }),
          OPS_PORT: String(opsPort),
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const lines: string[] = [];
      output = lines;
      const logFile =
        process.env.TEST_LOG_FOLDER &&
        createWriteStream(join(process.env.TEST_LOG_FOLDER, `${role}.log`), { flags: "a" });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk) => {
          if (logFile) logFile.write(chunk);
          lines.push(String(chunk));
          if (lines.length > 100) lines.shift();
        });
      }
      const starting = child;
      const outcome = await eventually(
        `${role} to be ready`,
        async () => {
          if (starting.exitCode !== null || starting.signalCode !== null) return "ended";
          return (await fetch(`${opsUrl}/ready`)).ok && "ready";
        },
        { timeoutSeconds: 90 },
      );
      // Thrown here, because `eventually` would repeat the check after an error until its timeout.
      if (outcome === "ended") throwError(`${role} ended while it started:\n${lines.join("")}`);
    },
    async kill() {
      await terminate("SIGKILL");
    },
    async stop() {
      const code = await terminate("SIGTERM");
      if (code !== 0 && code !== null) throwError(`${role} ended with code ${code}:\n${output.join("")}`);
    },
  };
}

function throwError(message: string): never {
  throw new Error(message);
}
