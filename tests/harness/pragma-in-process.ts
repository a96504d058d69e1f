import { randomUUID } from "node:crypto";
import { serviceNames } from "@pragma/contracts/service-names";
import { startGateway } from "@pragma/gateway/main";
import { createLogger, type Logger } from "@pragma/runtime/observability/logger";
import { createPrometheusMetrics } from "@pragma/runtime/observability/metrics";
import type { ProcessComponent } from "@pragma/runtime/process/run-process";
import { startService } from "@pragma/runtime/service/start-service";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { loadServiceDefinition } from "@pragma/services/definitions";
import type { PragmaUnderTestAccess } from "./pragma-under-test.ts";

/**
 * Starts the gateway and all services in the process of the test, so that the test can read their traces. To read their
 * logs too, the test passes a logger, because nothing is logged by default.
 */
export async function startPragmaInTestProcess(
  variables: Record<string, string>,
  { log = createLogger({ name: "test", level: "silent" }) }: { log?: Logger } = {},
): Promise<PragmaUnderTestAccess & { stop(): Promise<void> }> {
  const adminKey = `admin-key-of-a-test-${randomUUID()}`;
  const environment = { ...variables, PRAGMA_ADMIN_KEY: adminKey, PORT: "0" };
  const metrics = createPrometheusMetrics();
  const registry = createServiceRegistry({});
  const components: ProcessComponent[] = [];
  for (const name of serviceNames) {
    const service = await startService(await loadServiceDefinition(name), { environment, log, metrics, registry });
    registry.registerLocalService(name, service.fetch);
    components.push(service);
  }
  const gateway = await startGateway({ environment, log, metrics, registry });
  components.push(gateway);
  return {
    url: `http://127.0.0.1:${gateway.port}`,
    adminKey,
    async stop() {
      for (const component of components) component.beforeStop?.();
      for (const component of components.reverse()) await component.stop();
    },
  };
}
