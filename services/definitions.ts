import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { AnyServiceDefinition } from "@pragma/runtime/service/define-service";

interface ServiceEntry {
  /** Where the service is written. Loaded when asked for: a process holds the code of what it runs, and no other. */
  load(): Promise<{ default: AnyServiceDefinition }>;
  /** What it listens on when it runs by itself. */
  defaultPort: number;
}

/** Every service. */
export const serviceEntries: Record<ServiceName, ServiceEntry> = {
  "till-ingest": { load: () => import("@pragma/till-ingest/service"), defaultPort: 4001 },
  "order-live": { load: () => import("@pragma/order-live/service"), defaultPort: 4002 },
  reporting: { load: () => import("@pragma/reporting/service"), defaultPort: 4003 },
  catalog: { load: () => import("@pragma/catalog/service"), defaultPort: 4004 },
  accounts: { load: () => import("@pragma/accounts/service"), defaultPort: 4005 },
  webhooks: { load: () => import("@pragma/webhooks/service"), defaultPort: 4006 },
  jobs: { load: () => import("@pragma/jobs/service"), defaultPort: 4007 },
};

export async function loadServiceDefinition(name: ServiceName): Promise<AnyServiceDefinition> {
  return (await serviceEntries[name].load()).default;
}

export function loadServiceDefinitions(): Promise<AnyServiceDefinition[]> {
  return Promise.all(serviceNames.map(loadServiceDefinition));
}
