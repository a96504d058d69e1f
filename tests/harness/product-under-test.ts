import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { eventually } from "@pragma/runtime/testing/eventually";
import { findFreePort } from "../../deploy/local/free-port.js";

/** The part of the product that a process runs: one service, the gateway, or all of them. */
export type ProductRole = ServiceName | "gateway" | "all";

/** The address and the admin key of a product. */
export interface ProductAddress {
  /** The gateway's address. */
  url: string;
  adminKey: string;
}

/** The product as operators run it: compiled, in its own processes, over HTTP. */
export interface ProductUnderTest extends ProductAddress {
  /** Returns the process of a role; `all` when there is only one. */
  process(role: ProductRole): ProductProcess;
  stop(): Promise<void>;
}

export interface ProductProcess {
  opsUrl: string;
  /** The pid of the running process; undefined before the first start. */
  readonly pid: number | undefined;
  /** Starts the process. Changes of variables stay for later starts. */
  start(changes?: Record<string, string>): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM, after which requests in flight finish. Rejects when the exit code is not 0. */
  stop(): Promise<void>;
}

const mainProgram = fileURLToPath(new URL("../../services/dist/main.js", import.meta.url));

interface ProductUnderTestOptions {
  /**
   * Whether the gateway and each service have their own process; or the only services to start, besides the gateway.
   */
  split?: boolean | readonly ServiceName[];
  adminKey?: string;
  /** Additional environment variables of one process, when split. */
  variablesOf?: (role: Exclude<ProductRole, "all">) => Record<string, string>;
}

/**
 * Starts the product on the servers of `variables`, in one process or in several. Several products with the same
 * `adminKey` can run on the same servers, as instances of one installation.
 */
export async function startProductUnderTest(
  variables: Record<string, string>,
  {
    split = false,
    adminKey = `admin-key-of-a-test-${randomUUID()}`,
    variablesOf = () => ({}),
  }: ProductUnderTestOptions = {},
): Promise<ProductUnderTest> {
  const shared = { ...variables, PRAGMA_ADMIN_KEY: adminKey };
  const gatewayPort = await findFreePort();
  const processes = new Map<ProductRole, ProductProcess>();
  if (split) {
    const urls: Record<string, string> = {};
    for (const service of split === true ? serviceNames : split) {
      const port = await findFreePort();
      urls[`${service.toUpperCase().replaceAll("-", "_")}_URL`] = `http://127.0.0.1:${port}`;
      processes.set(
        service,
        await prepareProductProcess(service, { ...shared, ...variablesOf(service), PORT: String(port) }, urls),
      );
    }
    processes.set(
      "gateway",
      await prepareProductProcess("gateway", { ...shared, ...variablesOf("gateway"), PORT: String(gatewayPort) }, urls),
    );
  } else {
    processes.set("all", await prepareProductProcess("all", { ...shared, PORT: String(gatewayPort) }, {}));
  }
  // Services do not depend on each other at their start.
  const started = await Promise.allSettled([...processes.values()].map((each) => each.start()));
  const failed = started.find(({ status }) => status === "rejected");
  if (failed) {
    for (const each of processes.values()) await each.kill();
    throw (failed as PromiseRejectedResult).reason;
  }
  return {
    url: `http://127.0.0.1:${gatewayPort}`,
    adminKey,
    process: (role) => processes.get(role) ?? throwError(`There is no process ${role}.`),
    async stop() {
      for (const each of [...processes.values()].reverse()) await each.stop();
    },
  };
}

/** Returns a process that is not started yet, with its own ports. `urls` are the variables with the services' URLs. */
export async function prepareProductProcess(
  role: ProductRole,
  variables: Record<string, string>,
  urls: Record<string, string>,
): Promise<ProductProcess> {
  const opsPort = await findFreePort();
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  let current = variables;
  let child: ChildProcess | undefined;
  /** The last lines of its output. */
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
      child = spawn(process.execPath, [mainProgram], {
        env: {
          PATH: process.env.PATH,
          ...current,
          // A service that finds its own URL here still listens on its own PORT.
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
      await eventually(
        `${role} to be ready`,
        async () => {
          if (starting.exitCode !== null) throwError(`${role} ended while it started:\n${lines.join("")}`);
          return (await fetch(`${opsUrl}/ready`)).ok;
        },
        { withinSeconds: 90 },
      );
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
