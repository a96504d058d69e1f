import { ServiceHealth } from "@pragma/contracts/service-health";
import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import { healthPath } from "@pragma/runtime/http/service-app";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";

/** Longer than the checks of a service, which wait at most two seconds for a server. */
const timeoutMs = 3_000;

/** Returns a function that reads the health of the gateway and of all services at the same time. */
export function createServiceList(
  registry: ServiceRegistry,
  describeGateway: () => Promise<ServiceHealth>,
): () => Promise<ServiceHealth[]> {
  async function readHealth(name: ServiceName): Promise<ServiceHealth> {
    try {
      const response = await registry.request(name, { from: "gateway", path: healthPath, timeoutMs });
      return ServiceHealth.parse(await response.json());
    } catch {
      // The reason is in the log of the service, and the gateway's own log has nothing to add to it.
      return { name, state: "unreachable", checks: [] };
    }
  }
  return () => Promise.all([describeGateway(), ...serviceNames.map(readHealth)]);
}
