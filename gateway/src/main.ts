import { readConfig } from "@pragma/runtime/config";
import type { ProcessBase, ProcessPart } from "@pragma/runtime/run-process";
import type { ServiceRegistry } from "@pragma/runtime/service-registry";
import { gatewayConfig } from "./config.ts";
import { readDocuments } from "./documents.ts";
import { openGateway } from "./gateway.ts";

/** Starts the gateway as a part of a process; rejects when its configuration or documents are faulty, or its port is taken. */
export async function startGateway({
  environment,
  ...base
}: ProcessBase & { registry: ServiceRegistry }): Promise<ProcessPart & { port: number }> {
  const config = readConfig(gatewayConfig, environment);
  return openGateway({ ...base, config, documents: await readDocuments() });
}
