import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { internalKeysVariables } from "@pragma/runtime/internal-keys";
import { packageFolder } from "@pragma/runtime/package-folder";
import { freePort } from "../deploy/local/free-port.js";
import { runServer } from "../deploy/local/run-server.js";
import type { ServerUrls } from "../deploy/local/servers.js";
import { complain } from "./complain.ts";
import { cpuSeconds, memoryOf } from "./process-usage.ts";

/** What a process of the product can be: everything in one, or a part by itself. */
export type Role = ServiceName | "gateway" | "all";

/** The product as operators run it: compiled, in processes of its own, with its log on. */
export interface Product {
  processes: ProductProcess[];
  process(role: Role): ProductProcess;
  /** The gateway's address. */
  url: string;
  adminKey: string;
  namespace: string;
  /** The keys that its parts share, by the variables that configure them. */
  internalKeys: Record<string, string>;
  /** CPU seconds of all its processes since they were started. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export interface ProductProcess {
  role: Role;
  url: string;
  pid: number;
  cpuSeconds(): number;
  /** Megabytes. */
  memory(): { now: number; peak: number };
  stop(): Promise<void>;
}

export interface ProductSetting {
  /** Where it keeps what it writes. */
  folder: string;
  servers: ServerUrls;
  /** Apart from every other product on the same servers. */
  namespace: string;
  roles: Role[];
  /** Where its processes write CPU profiles; none when undefined. */
  profiles: string | undefined;
}

export const allInOne: Role[] = ["all"];
export const split: Role[] = [...serviceNames, "gateway"];

const main = join(packageFolder(import.meta.resolve("@pragma/services/definitions")), "dist", "main.js");
/** Far beyond what is asked: limits are counted, and never reached. */
const limits = {
  ...{ RATE_LIMIT_PER_SECOND: "1000000", RATE_LIMIT_BURST: "10000000" },
  ...{ WEBHOOKS_PER_LOCATION: "100000", WEBHOOK_HOST_RATE: "100000", WEBHOOK_HOST_BURST: "100000" },
};

export async function startProduct({ folder, servers, namespace, roles, profiles }: ProductSetting): Promise<Product> {
  const adminKey = randomBytes(32).toString("hex");
  const internalKeys = Object.fromEntries(internalKeysVariables.map((variable) => [variable, randomKey()]));
  const ports = new Map<Role, number>();
  for (const role of roles) ports.set(role, await freePort());
  const urlOf = (role: Role) => `http://127.0.0.1:${ports.get(role)}`;
  const objects = join(folder, "objects");
  mkdirSync(objects, { recursive: true });
  const env = {
    PATH: process.env.PATH,
    ...servers,
    ...limits,
    NAMESPACE: namespace,
    OBJECT_STORE: `file:${objects}`,
    ...internalKeys,
    DATA_KEYS: randomKey(),
    PRAGMA_ADMIN_KEY: adminKey,
    LOG_LEVEL: "info",
    ...Object.fromEntries(
      serviceNames.filter((name) => ports.has(name)).map((name) => [variableOf(name), urlOf(name)]),
    ),
  };
  const start = async (role: Role): Promise<ProductProcess> => {
    const opsPort = await freePort();
    const own = { PORT: String(ports.get(role)), OPS_PORT: String(opsPort), ...(role !== "all" && { SERVICE: role }) };
    const flags = profiles ? ["--cpu-prof", `--cpu-prof-dir=${join(profiles, role)}`] : [];
    const { pid, stop } = await runServer({
      name: `The product's ${role}`,
      logFile: join(folder, role, "server.log"),
      port: opsPort,
      log: complain,
      stopTimeoutMs: 35_000,
      command: process.execPath,
      args: [...flags, main],
      env: { ...env, ...own },
      isReady: () => isReady(opsPort),
    });
    return { role, url: urlOf(role), pid, cpuSeconds: () => cpuSeconds(pid), memory: () => memoryOf(pid), stop };
  };

  // Services wait for nobody: they are started together.
  const processes = await Promise.all(roles.map(start));
  const find = (role: Role) => {
    const found = processes.find((each) => each.role === role);
    if (!found) throw new Error(`This product has no process ${role}.`);
    return found;
  };
  return {
    processes,
    process: find,
    get url() {
      return find(roles.includes("all") ? "all" : "gateway").url;
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

/** As configuration has it: name:secret. */
function randomKey(): string {
  return `bench:${randomBytes(32).toString("hex")}`;
}

function variableOf(service: ServiceName): string {
  return `${service.toUpperCase().replaceAll("-", "_")}_URL`;
}

async function isReady(opsPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${opsPort}/ready`)).ok;
  } catch {
    return false;
  }
}
