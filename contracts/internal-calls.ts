import type { ServiceName } from "./service-names.ts";

/** A part of the product that asks services. */
export type CallerName = ServiceName | "gateway";

/** What one part of the product may ask of another by itself; no consumer can be given any of these. */
export const internalScopes = ["internal:keys", "internal:locations"] as const;

export type InternalScope = (typeof internalScopes)[number];

/**
 * Who asks whom inside the product, and with which rights. The gateway asks every service besides, for the clients
 * whose requests it forwards.
 */
const internalCalls = {
  accounts: {
    gateway: ["internal:keys"],
    "till-ingest": ["internal:locations"],
    "order-live": ["internal:locations"],
    reporting: ["internal:locations"],
    catalog: ["internal:locations"],
    webhooks: ["internal:locations"],
    jobs: ["internal:locations"],
  },
} as const satisfies Partial<Record<ServiceName, Partial<Record<CallerName, readonly InternalScope[]>>>>;

/** The parts that may send requests to a service. */
export function callersOf(service: ServiceName): CallerName[] {
  const calls: Partial<Record<ServiceName, object>> = internalCalls;
  return [...new Set<CallerName>(["gateway", ...(Object.keys(calls[service] ?? {}) as CallerName[])])];
}

/** The rights with which a part asks a service by itself; empty when it has no reason to. */
export function internalScopesOf(caller: CallerName, service: ServiceName): readonly InternalScope[] {
  const calls: Partial<Record<ServiceName, Partial<Record<CallerName, readonly InternalScope[]>>>> = internalCalls;
  return calls[service]?.[caller] ?? [];
}
