import { type ServiceName, serviceNames } from "@pragma/contracts/service-names";
import type { AnyServiceDefinition } from "@pragma/runtime/define-service";

interface ServiceEntry {
  /** Where the service is written. Loaded when asked for: a process holds the code of what it runs, and no other. */
  load(): Promise<{ default: AnyServiceDefinition }>;
  /** What it listens on when it runs by itself. */
  port: number;
}

/** Every service. */
export const services: Record<ServiceName, ServiceEntry> = {
  "till-ingest": { load: () => import("@pragma/till-ingest/service"), port: 4001 },
  "order-live": { load: () => import("@pragma/order-live/service"), port: 4002 },
  reporting: { load: () => import("@pragma/reporting/service"), port: 4003 },
  catalog: { load: () => import("@pragma/catalog/service"), port: 4004 },
  accounts: { load: () => import("@pragma/accounts/service"), port: 4005 },
  webhooks: { load: () => import("@pragma/webhooks/service"), port: 4006 },
  jobs: { load: () => import("@pragma/jobs/service"), port: 4007 },
};

export async function definitionOf(name: ServiceName): Promise<AnyServiceDefinition> {
  return (await services[name].load()).default;
}

export function allDefinitions(): Promise<AnyServiceDefinition[]> {
  return Promise.all(serviceNames.map(definitionOf));
}
