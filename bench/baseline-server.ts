import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal } from "@pragma/contracts/principal";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { findFreePort } from "../deploy/local/free-port.js";
import { launchLocalServer } from "../deploy/local/run-server.js";
import type { BenchEnvironment } from "./bench-environment.ts";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";
import { readMemoryMegabytes, readProcessCpuSeconds } from "./process-usage.ts";
import { printBenchServerError } from "./report-error.ts";
import { getCompiledBenchModulePath } from "./run-bench-program.ts";

/** A server that a benchmark runs in its own process: a baseline for the product, or a helper such as a receiver. */
export interface BenchServerProcess {
  url: string;
  pid: number;
  cpuSeconds(): number;
  /** Returns the resident memory of the process in megabytes: now and at its peak. */
  memoryMegabytes(): { now: number; peak: number };
  stop(): Promise<void>;
}

/** Starts a server that returns pages of orders. It reads the orders that a product has stored for a location. */
export async function startOrderPageBaselineServer(
  { folder, urls }: Pick<BenchEnvironment, "folder" | "urls">,
  { namespace }: Pick<BenchPragmaDeployment, "namespace">,
  locationId: string,
): Promise<BenchServerProcess> {
  return startBaselineProgram("order-page-baseline", {
    folder: `${folder}/order-page-baseline-${namespace}`,
    env: {
      DATABASE_URL: urls.DATABASE_URL,
      SCHEMA: buildServiceSchemaName(namespace, "reporting"),
      LOCATION_ID: locationId,
    },
  });
}

/** Starts a server that stores orders and sends each order to all readers of its stream. */
export async function startLiveOrderBaselineServer({
  folder,
  urls,
}: Pick<BenchEnvironment, "folder" | "urls">): Promise<BenchServerProcess> {
  const env = { DATABASE_URL: urls.DATABASE_URL };
  return startBaselineProgram("live-order-baseline", { folder: `${folder}/live-order-baseline`, env });
}

export async function startBenchWebhookReceiver(
  { folder }: Pick<BenchEnvironment, "folder">,
  name: string,
): Promise<BenchServerProcess> {
  return startBaselineProgram("webhook-receiver", { folder: `${folder}/webhook-receiver-${name}`, env: {} });
}

/** Starts a server that stores orders and posts each order to this endpoint. */
export async function startWebhookBaseline(
  { folder, urls }: Pick<BenchEnvironment, "folder" | "urls">,
  endpoint: string,
): Promise<BenchServerProcess> {
  const env = { DATABASE_URL: urls.DATABASE_URL, ENDPOINT: endpoint };
  return startBaselineProgram("webhook-baseline", { folder: `${folder}/webhook-baseline`, env });
}

/** Starts a Fastify server that has the features of the product's gateway and reads the data of a product. */
export async function startFastifyBaselineServer(
  environment: Pick<BenchEnvironment, "folder" | "urls">,
  product: BenchPragmaDeployment,
  variant: "plain" | "tuned",
): Promise<BenchServerProcess> {
  return startBaselineProgram("fastify-server", {
    folder: `${environment.folder}/fastify-server-${variant}`,
    env: {
      VARIANT: variant,
      ...accountsVariables(environment, product),
      REPORTING_SCHEMA: buildServiceSchemaName(product.namespace, "reporting"),
    },
  });
}

/** Starts a Fastify proxy in front of a product's reporting service, instead of the gateway. */
export async function startProxyBaseline(
  environment: Pick<BenchEnvironment, "folder" | "urls">,
  product: BenchPragmaDeployment,
): Promise<BenchServerProcess> {
  return startBaselineProgram("fastify-proxy", {
    folder: `${environment.folder}/fastify-proxy`,
    env: {
      ...accountsVariables(environment, product),
      ...product.internalKeys,
      UPSTREAM: product.process("reporting").url,
    },
  });
}

function accountsVariables(
  { urls }: Pick<BenchEnvironment, "urls">,
  { namespace }: BenchPragmaDeployment,
): Record<string, string> {
  return { DATABASE_URL: urls.DATABASE_URL, ACCOUNTS_SCHEMA: buildServiceSchemaName(namespace, "accounts") };
}

/** Starts a gateway without API keys, rate limits and logging, in front of a product's reporting service. */
export async function startGatewayBaseline(
  { folder }: Pick<BenchEnvironment, "folder">,
  product: BenchPragmaDeployment,
  principal: Principal,
): Promise<BenchServerProcess> {
  const env = {
    ...product.internalKeys,
    REPORTING_URL: product.process("reporting").url,
    PRINCIPAL: JSON.stringify(principal),
  };
  return startBaselineProgram("minimal-gateway", { folder: `${folder}/minimal-gateway`, env });
}

/** Starts a server that responds to a request for each of these paths with the body of the path. */
export async function startStaticBaseline(
  { folder }: Pick<BenchEnvironment, "folder">,
  bodiesByPath: Record<string, Uint8Array>,
): Promise<BenchServerProcess> {
  const files = Object.entries(bodiesByPath).map(([path, body], index): [string, string] => {
    const file = join(folder, `response-${index}`);
    writeFileSync(file, body);
    return [path, file];
  });
  const env = { FILES: JSON.stringify(Object.fromEntries(files)) };
  return startBaselineProgram("static-responses", { folder: `${folder}/static-responses`, env });
}

async function startBaselineProgram(
  program: string,
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<BenchServerProcess> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const { pid, stop } = await launchLocalServer({
    name: `The ${program}`,
    logFile: join(folder, "server.log"),
    port,
    log: printBenchServerError,
    command: process.execPath,
    args: [getCompiledBenchModulePath(`measured/${program}`)],
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    async isReady() {
      try {
        const response = await fetch(url);
        await response.arrayBuffer();
        return response.status < 500;
      } catch {
        return false;
      }
    },
  });
  return {
    url,
    pid,
    cpuSeconds: () => readProcessCpuSeconds(pid),
    memoryMegabytes: () => readMemoryMegabytes(pid),
    stop,
  };
}
