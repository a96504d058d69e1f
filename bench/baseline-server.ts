import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal } from "@pragma/contracts/principal";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { findFreePort } from "../deploy/local/free-port.js";
import { launchServer } from "../deploy/local/run-server.js";
import type { BenchEnvironment } from "./bench-environment.ts";
import { compiledModulePath } from "./compiled-module-path.ts";
import { readProcessCpuSeconds, readProcessMemoryMegabytes } from "./process-usage.ts";
import type { ProductUnderLoad } from "./product-under-load.ts";
import { reportError } from "./report-error.ts";

/** The smallest server that does what a row measures, in a process of its own. */
export interface BaselineServer {
  url: string;
  pid: number;
  cpuSeconds(): number;
  /** Megabytes. */
  memoryMegabytes(): { now: number; peak: number };
  stop(): Promise<void>;
}

/** Starts the one that answers a page of orders, on the orders of a product's location. */
export async function startOrderPageBaseline(
  { folder, urls }: Pick<BenchEnvironment, "folder" | "urls">,
  { namespace }: Pick<ProductUnderLoad, "namespace">,
  locationId: string,
): Promise<BaselineServer> {
  return startBaselineProgram("bare-server", {
    folder: `${folder}/bare-server-${namespace}`,
    env: {
      DATABASE_URL: urls.DATABASE_URL,
      SCHEMA: buildServiceSchemaName(namespace, "reporting"),
      LOCATION_ID: locationId,
    },
  });
}

/** Starts the one that keeps orders and passes each on to everybody who listens. */
export async function startLiveOrderBaseline({
  folder,
  urls,
}: Pick<BenchEnvironment, "folder" | "urls">): Promise<BaselineServer> {
  const env = { DATABASE_URL: urls.DATABASE_URL };
  return startBaselineProgram("bare-stream", { folder: `${folder}/bare-stream`, env });
}

/** Starts the one that gets webhooks. */
export async function startBenchWebhookReceiver(
  { folder }: Pick<BenchEnvironment, "folder">,
  name: string,
): Promise<BaselineServer> {
  return startBaselineProgram("receiver", { folder: `${folder}/receiver-${name}`, env: {} });
}

/** Starts the one that keeps orders and posts each to this endpoint. */
export async function startWebhookBaseline(
  { folder, urls }: Pick<BenchEnvironment, "folder" | "urls">,
  endpoint: string,
): Promise<BaselineServer> {
  const env = { DATABASE_URL: urls.DATABASE_URL, ENDPOINT: endpoint };
  return startBaselineProgram("bare-webhooks", { folder: `${folder}/bare-webhooks`, env });
}

/** Starts Fastify with the product's features, on the data of a product. */
export async function startFastifyBaseline(
  lab: Pick<BenchEnvironment, "folder" | "urls">,
  product: ProductUnderLoad,
): Promise<BaselineServer> {
  return startBaselineProgram("fastify-server", {
    folder: `${lab.folder}/fastify-server`,
    env: {
      ...accountsVariables(lab, product),
      REPORTING_SCHEMA: buildServiceSchemaName(product.namespace, "reporting"),
    },
  });
}

/** Starts Fastify in the place of a product's gateway, in front of its reporting. */
export async function startFastifyProxyBaseline(
  lab: Pick<BenchEnvironment, "folder" | "urls">,
  product: ProductUnderLoad,
): Promise<BaselineServer> {
  return startBaselineProgram("fastify-proxy", {
    folder: `${lab.folder}/fastify-proxy`,
    env: { ...accountsVariables(lab, product), ...product.internalKeys, UPSTREAM: product.process("reporting").url },
  });
}

function accountsVariables(
  { urls }: Pick<BenchEnvironment, "urls">,
  { namespace }: ProductUnderLoad,
): Record<string, string> {
  return { DATABASE_URL: urls.DATABASE_URL, ACCOUNTS_SCHEMA: buildServiceSchemaName(namespace, "accounts") };
}

/** Starts the gateway without key, limit and log, in front of a product's reporting. */
export async function startMinimalGateway(
  { folder }: Pick<BenchEnvironment, "folder">,
  product: ProductUnderLoad,
  principal: Principal,
): Promise<BaselineServer> {
  const env = {
    ...product.internalKeys,
    REPORTING_URL: product.process("reporting").url,
    PRINCIPAL: JSON.stringify(principal),
  };
  return startBaselineProgram("bare-gateway", { folder: `${folder}/bare-gateway`, env });
}

/** Starts the one that sends these bodies, by their paths. */
export async function startStaticResponseServer(
  { folder }: Pick<BenchEnvironment, "folder">,
  bodiesByPath: Record<string, Uint8Array>,
): Promise<BaselineServer> {
  const files = Object.entries(bodiesByPath).map(([path, body], index): [string, string] => {
    const file = join(folder, `reply-${index}`);
    writeFileSync(file, body);
    return [path, file];
  });
  const env = { FILES: JSON.stringify(Object.fromEntries(files)) };
  return startBaselineProgram("bare-replies", { folder: `${folder}/bare-replies`, env });
}

async function startBaselineProgram(
  program: string,
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<BaselineServer> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const { pid, stop } = await launchServer({
    name: `The ${program}`,
    logFile: join(folder, "server.log"),
    port,
    log: reportError,
    command: process.execPath,
    args: [compiledModulePath(`measured/${program}`)],
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    async isReady() {
      try {
        const reply = await fetch(url);
        await reply.arrayBuffer();
        return reply.status < 500;
      } catch {
        return false;
      }
    },
  });
  return {
    url,
    pid,
    cpuSeconds: () => readProcessCpuSeconds(pid),
    memoryMegabytes: () => readProcessMemoryMegabytes(pid),
    stop,
  };
}
