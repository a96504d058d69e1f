import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { internalKeysVariableNames } from "@pragma/runtime/config/internal-keys";
import { bundleFolder } from "../deploy/local/bundle.js";
import { findFreePort } from "../deploy/local/free-port.js";
import { processSettings } from "../deploy/local/process-settings.js";
import { launchLocalServer } from "../deploy/local/run-server.js";
import type { LocalServerUrls } from "../deploy/local/servers.js";
import { readMemoryMegabytes, readProcessCpuSeconds } from "./process-usage.ts";
import { printBenchServerError } from "./report-error.ts";

/** The part of the product that a process runs: one service, the gateway, or all of them. */
export type BenchPragmaProcessRole = ServiceName | "gateway" | "all";

/** The product as operators run it: compiled, in its own processes, with logging. */
export interface BenchPragmaDeployment {
  processes: BenchPragmaProcess[];
  process(role: BenchPragmaProcessRole): BenchPragmaProcess;
  /** The gateway's address. */
  url: string;
  adminKey: string;
  namespace: string;
  /** The keys that the services and the gateway share, by environment variable. */
  internalKeys: Record<string, string>;
  /** Returns the CPU time of all processes of the product since their start, in seconds. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export interface BenchPragmaProcess {
  role: BenchPragmaProcessRole;
  url: string;
  pid: number;
  cpuSeconds(): number;
  /** Returns the resident memory of the process in megabytes: now and at its peak. */
  memoryMegabytes(): { now: number; peak: number };
  stop(): Promise<void>;
}

export interface BenchPragmaDeploymentOptions {
  /** The folder for the stored objects and the logs of the product. */
  folder: string;
  servers: LocalServerUrls;
  /** A name that separates the data of this product from that of other products on the same servers. */
  namespace: string;
  roles: BenchPragmaProcessRole[];
  /** The path of another version's compiled program; this version by default. */
  mainProgram?: string | undefined;
  /** The folder in which the processes write CPU profiles; undefined if they write no profiles. */
  profilesFolder: string | undefined;
}

export const singleProcessBenchRoles: BenchPragmaProcessRole[] = ["all"];
export const serviceAndGatewayBenchRoles: BenchPragmaProcessRole[] = [...serviceNames, "gateway"];

const currentMainProgram = join(bundleFolder, "services", "main.js");
/** Limits far above the load of the benchmarks, so that the product checks the limits but never reaches them. */
const limitVariables = {
  ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000" },
  MAX_LIVE_ORDER_EVENT_BYTES_PER_DAY: "100000000000",
  ...{ MAX_WEBHOOKS_PER_LOCATION: "100000", WEBHOOK_HOST_RATE_PER_SECOND: "100000", WEBHOOK_HOST_BURST: "100000" },
};

export async function startBenchPragmaDeployment({
  folder,
  servers,
  namespace,
  roles,
  mainProgram = currentMainProgram,
  profilesFolder,
}: BenchPragmaDeploymentOptions): Promise<BenchPragmaDeployment> {
  const adminKey = randomBytes(32).toString("hex");
  const internalKeys = Object.fromEntries(internalKeysVariableNames.map((variable) => [variable, createRandomKey()]));
  const ports = new Map<BenchPragmaProcessRole, number>();
  for (const role of roles) ports.set(role, await findFreePort());
  const urlOf = (role: BenchPragmaProcessRole) => `http://127.0.0.1:${ports.get(role)}`;
  const objects = join(folder, "objects");
  mkdirSync(objects, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    ...servers,
    ...limitVariables,
    NAMESPACE: namespace,
    OBJECT_STORE: `file:${objects}`,
    ...internalKeys,
    DATA_KEYS: createRandomKey(),
    PRAGMA_ADMIN_KEY: adminKey,
    LOG_LEVEL: "info",
    ...processSettings.environment,
    ...Object.fromEntries(
      serviceNames.filter((name) => ports.has(name)).map((name) => [serviceUrlVariable(name), urlOf(name)]),
    ),
  };
  const start = async (role: BenchPragmaProcessRole): Promise<BenchPragmaProcess> => {
    const opsPort = await findFreePort();
    const roleVariables = {
      PORT: String(ports.get(role)),
      OPS_PORT: String(opsPort),
      ...(role !== "all" && { SERVICE: role }),
    };
    const flags = profilesFolder ? ["--cpu-prof", `--cpu-prof-dir=${join(profilesFolder, role)}`] : [];
    const { pid, stop } = await launchLocalServer({
      name: `The product's ${role}`,
      logFile: join(folder, role, "server.log"),
      port: opsPort,
      log: printBenchServerError,
      stopTimeoutMs: 35_000,
      command: process.execPath,
      args: [...processSettings.flags, ...flags, mainProgram],
      env: { ...env, ...roleVariables },
      isReady: () => isProcessReady(opsPort),
    });
    return {
      role,
      url: urlOf(role),
      pid,
      cpuSeconds: () => readProcessCpuSeconds(pid),
      memoryMegabytes: () => readMemoryMegabytes(pid),
      stop,
    };
  };

  // The processes start concurrently, because services do not need each other to start.
  const processes = await Promise.all(roles.map(start));
  const findProcess = (role: BenchPragmaProcessRole) => {
    const match = processes.find((each) => each.role === role);
    if (!match) throw new Error(`This product has no process ${role}.`);
    return match;
  };
  return {
    processes,
    process: findProcess,
    get url() {
      return findProcess(roles.includes("all") ? "all" : "gateway").url;
    },
    adminKey,
    namespace,
    internalKeys,
    cpuSeconds: () => processes.reduce((sum, each) => sum + each.cpuSeconds(), 0),
    async stop() {
      for (const each of processes.toReversed()) await each.stop();
    },
  };
}

/** Returns a random key in the format `name:secret`, as the configuration expects it. */
function createRandomKey(): string {
  return `bench:${randomBytes(32).toString("hex")}`;
}

function serviceUrlVariable(service: ServiceName): string {
  return `${service.toUpperCase().replaceAll("-", "_")}_URL`;
}

async function isProcessReady(opsPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${opsPort}/ready`)).ok;
  } catch {
    return false;
  }
}
