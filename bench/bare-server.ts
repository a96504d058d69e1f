import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Principal } from "@pragma/contracts/principal";
import { schemaOf } from "@pragma/runtime/start-service";
import { freePort } from "../deploy/local/free-port.js";
import { runServer } from "../deploy/local/run-server.js";
import { compiled } from "./compiled.ts";
import { complain } from "./complain.ts";
import type { Lab } from "./lab.ts";
import { cpuSeconds, memoryOf } from "./process-usage.ts";
import type { Product } from "./product.ts";

/** The smallest server that does what a row measures, in a process of its own. */
export interface BareServer {
  url: string;
  pid: number;
  cpuSeconds(): number;
  /** Megabytes. */
  memory(): { now: number; peak: number };
  stop(): Promise<void>;
}

/** Starts the one that answers a page of orders, on the orders of a product's location. */
export async function startBareServer(
  { folder, urls }: Pick<Lab, "folder" | "urls">,
  { namespace }: Pick<Product, "namespace">,
  locationId: string,
): Promise<BareServer> {
  return startBare("bare-server", {
    folder: `${folder}/bare-server-${namespace}`,
    env: { DATABASE_URL: urls.DATABASE_URL, SCHEMA: schemaOf(namespace, "reporting"), LOCATION_ID: locationId },
  });
}

/** Starts the one that keeps orders and passes each on to everybody who listens. */
export async function startBareStream({ folder, urls }: Pick<Lab, "folder" | "urls">): Promise<BareServer> {
  const env = { DATABASE_URL: urls.DATABASE_URL };
  return startBare("bare-stream", { folder: `${folder}/bare-stream`, env });
}

/** Starts the one that gets webhooks. */
export async function startReceiver({ folder }: Pick<Lab, "folder">, name: string): Promise<BareServer> {
  return startBare("receiver", { folder: `${folder}/receiver-${name}`, env: {} });
}

/** Starts the one that keeps orders and posts each to this endpoint. */
export async function startBareWebhooks(
  { folder, urls }: Pick<Lab, "folder" | "urls">,
  endpoint: string,
): Promise<BareServer> {
  const env = { DATABASE_URL: urls.DATABASE_URL, ENDPOINT: endpoint };
  return startBare("bare-webhooks", { folder: `${folder}/bare-webhooks`, env });
}

/** Starts Fastify with the product's features, on the data of a product. */
export async function startFastifyServer(lab: Pick<Lab, "folder" | "urls">, product: Product): Promise<BareServer> {
  return startBare("fastify-server", {
    folder: `${lab.folder}/fastify-server`,
    env: {
      ...keysOf(lab, product),
      REPORTING_SCHEMA: schemaOf(product.namespace, "reporting"),
    },
  });
}

/** Starts Fastify in the place of a product's gateway, in front of its reporting. */
export async function startFastifyProxy(lab: Pick<Lab, "folder" | "urls">, product: Product): Promise<BareServer> {
  return startBare("fastify-proxy", {
    folder: `${lab.folder}/fastify-proxy`,
    env: { ...keysOf(lab, product), ...product.internalKeys, UPSTREAM: product.process("reporting").url },
  });
}

function keysOf({ urls }: Pick<Lab, "urls">, { namespace }: Product): Record<string, string> {
  return { DATABASE_URL: urls.DATABASE_URL, ACCOUNTS_SCHEMA: schemaOf(namespace, "accounts") };
}

/** Starts the gateway without key, limit and log, in front of a product's reporting. */
export async function startBareGateway(
  { folder }: Pick<Lab, "folder">,
  product: Product,
  principal: Principal,
): Promise<BareServer> {
  const env = {
    ...product.internalKeys,
    REPORTING_URL: product.process("reporting").url,
    PRINCIPAL: JSON.stringify(principal),
  };
  return startBare("bare-gateway", { folder: `${folder}/bare-gateway`, env });
}

/** Starts the one that sends these bodies, by their paths. */
export async function startBareReplies(
  { folder }: Pick<Lab, "folder">,
  bodies: Record<string, Uint8Array>,
): Promise<BareServer> {
  const files = Object.entries(bodies).map(([path, body], index): [string, string] => {
    const file = join(folder, `reply-${index}`);
    writeFileSync(file, body);
    return [path, file];
  });
  const env = { FILES: JSON.stringify(Object.fromEntries(files)) };
  return startBare("bare-replies", { folder: `${folder}/bare-replies`, env });
}

async function startBare(
  program: string,
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<BareServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { pid, stop } = await runServer({
    name: `The ${program}`,
    logFile: join(folder, "server.log"),
    port,
    log: complain,
    command: process.execPath,
    args: [compiled(`measured/${program}`)],
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
  return { url, pid, cpuSeconds: () => cpuSeconds(pid), memory: () => memoryOf(pid), stop };
}
