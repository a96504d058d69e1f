import { randomUUID } from "node:crypto";
import { serviceNames } from "@pragma/contracts/service-names";
import { startGateway } from "@pragma/gateway/main";
import { createLogger, type Logger } from "@pragma/runtime/logger";
import { createMetrics } from "@pragma/runtime/metrics";
import type { ProcessPart } from "@pragma/runtime/run-process";
import { createServiceRegistry } from "@pragma/runtime/service-registry";
import { startService } from "@pragma/runtime/start-service";
import { definitionOf } from "@pragma/services/definitions";
import type { ReachableProduct } from "./product.ts";

/** The product within the test's own process, for looking at what it says of itself. */
export async function startProductInProcess(
  variables: Record<string, string>,
  { log = createLogger({ name: "test", level: "silent" }) }: { log?: Logger } = {},
): Promise<ReachableProduct & { stop(): Promise<void> }> {
  const adminKey = `admin-key-of-a-test-${randomUUID()}`;
  const environment = { ...variables, PRAGMA_ADMIN_KEY: adminKey, PORT: "0" };
  const metrics = createMetrics();
  const registry = createServiceRegistry({});
  const parts: ProcessPart[] = [];
  for (const name of serviceNames) {
    const service = await startService(await definitionOf(name), { environment, log, metrics, registry });
    registry.add(name, service.fetch);
    parts.push(service);
  }
  const gateway = await startGateway({ environment, log, metrics, registry });
  parts.push(gateway);
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    adminKey,
    async stop() {
      for (const part of parts) part.beforeStop?.();
      for (const part of parts.reverse()) await part.stop();
    },
  };
}
