import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { eventually } from "@pragma/runtime/testing/eventually";
import { findFreePort } from "../../deploy/local/free-port.js";

/** What a process of the product can be: everything in one, or a part by itself. */
export type ProductRole = ServiceName | "gateway" | "all";

/** The product as clients reach it. */
export interface ProductAddress {
  /** The gateway's address. */
  url: string;
  adminKey: string;
}

/** The product as operators run it: compiled, in processes of its own, over HTTP. */
export interface ProductUnderTest extends ProductAddress {
  /** A part's process, by role; `all` when there is only one. */
  process(role: ProductRole): ProductProcess;
  stop(): Promise<void>;
}

export interface ProductProcess {
  opsUrl: string;
  /** Of the process as it runs now; undefined before it was started. */
  readonly pid: number | undefined;
  /** With other variables than before, if any are given: from now on. */
  start(changes?: Record<string, string>): Promise<void>;
  /** SIGKILL, as a power cut. */
  kill(): Promise<void>;
  /** SIGTERM: lets what is in flight finish; rejects when it does not end well. */
  stop(): Promise<void>;
}

const mainProgram = fileURLToPath(new URL("../../services/dist/main.js", import.meta.url));

interface ProductUnderTestOptions {
  /** Whether each part is a process of its own; or the services that run so beside the gateway, as far as a test needs them. */
  split?: boolean | readonly ServiceName[];
  adminKey?: string;
  /** What one part is told that others are not, when each is a process of its own. */
  variablesOf?: (role: Exclude<ProductRole, "all">) => Record<string, string>;
}

/**
 * Starts the product on the servers that `variables` name, in one process, or in one for each part. Several may run on
 * the same servers, as instances of one installation: those share their `adminKey`.
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
  // Services wait for nobody: they are started together.
  const started = await Promise.allSettled([...processes.values()].map((each) => each.start()));
  const failed = started.find(({ status }) => status === "rejected");
  if (failed) {
    for (const each of processes.values()) await each.kill();
    throw (failed as PromiseRejectedResult).reason;
  }
  return {
    url: `http://127.0.0.1:${gatewayPort}`,
    adminKey,
    process: (role) => processes.get(role) ?? throwError(`there is no process ${role}`),
    async stop() {
      for (const each of [...processes.values()].reverse()) await each.stop();
    },
  };
}

/** A process that is yet to be started, on ports of its own. `urls` say where it finds the services. */
export async function prepareProductProcess(
  role: ProductRole,
  variables: Record<string, string>,
  urls: Record<string, string>,
): Promise<ProductProcess> {
  const opsPort = await findFreePort();
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  let current = variables;
  let child: ChildProcess | undefined;
  /** What it said last. */
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
          // Looked at first, so that a service that finds itself among them still listens on its own port.
          ...urls,
          ...(role !== "all" && { SERVICE: role }),
          OPS_PORT: String(opsPort),
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const said: string[] = [];
      output = said;
      const log =
        process.env.TEST_LOG_FOLDER &&
        createWriteStream(join(process.env.TEST_LOG_FOLDER, `${role}.log`), { flags: "a" });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk) => {
          if (log) log.write(chunk);
          said.push(String(chunk));
          if (said.length > 100) said.shift();
        });
      }
      const starting = child;
      await eventually(
        `${role} to be ready`,
        async () => {
          if (starting.exitCode !== null) throwError(`${role} ended while it started:\n${said.join("")}`);
          return (await fetch(`${opsUrl}/ready`)).ok;
        },
        { timeoutSeconds: 90 },
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
