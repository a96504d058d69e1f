import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { AnyServiceDefinition } from "@pragma/runtime/service/define-service";

/**
 * How the definition of each service is imported, on demand, so that a process loads only the services that it runs, and
 * the port of the service when it runs in a separate process without the variable PORT.
 */
export const serviceLoadersAndDefaultPorts: Record<
  ServiceName,
  { load(): Promise<{ default: AnyServiceDefinition }>; defaultPort: number }
> = {
  "till-ingest": { load: () => import("@pragma/till-ingest/service"), defaultPort: 4001 },
  "order-live": { load: () => import("@pragma/order-live/service"), defaultPort: 4002 },
  reporting: { load: () => import("@pragma/reporting/service"), defaultPort: 4003 },
  catalog: { load: () => import("@pragma/catalog/service"), defaultPort: 4004 },
  accounts: { load: () => import("@pragma/accounts/service"), defaultPort: 4005 },
  webhooks: { load: () => import("@pragma/webhooks/service"), defaultPort: 4006 },
  jobs: { load: () => import("@pragma/jobs/service"), defaultPort: 4007 },
  sandboxes: { load: () => import("./commands/sandboxes-service.ts"), defaultPort: 4008 },
};

export async function loadServiceDefinition(name: ServiceName): Promise<AnyServiceDefinition> {
  return (await serviceLoadersAndDefaultPorts[name].load()).default;
}

export function loadServiceDefinitions(): Promise<AnyServiceDefinition[]> {
  return Promise.all(serviceNames.map(loadServiceDefinition));
}
