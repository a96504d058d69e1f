/** The services behind the gateway. Each service owns the PostgreSQL schema with its name. */
export const serviceNames = [
  "accounts",
  "till-ingest",
  "order-live",
  "reporting",
  "catalog",
  "webhooks",
  "jobs",
  "sandboxes",
] as const;

export type ServiceName = (typeof serviceNames)[number];

/** A sender of requests to services: a service or the gateway. */
export type InternalCallerName = ServiceName | "gateway";

/** A scope for requests that the gateway or a service sends on its own behalf. Consumers cannot have these scopes. */
export type InternalScope = "internal:keys" | "internal:locations";

/**
 * Returns the callers that may send requests to a service. The gateway may call every service, to forward client
 * requests. The other services may call only accounts.
 */
export function getAllowedCallersOfService(service: ServiceName): InternalCallerName[] {
  return ["gateway", ...serviceNames.filter((name) => service === "accounts" && name !== service)];
}

/** Returns the scopes of a caller's own requests to a service. Empty if the caller only forwards client requests. */
export function getInternalScopesOfCaller(caller: InternalCallerName, service: ServiceName): InternalScope[] {
  if (service !== "accounts") return [];
  return caller === "gateway" ? ["internal:keys", "internal:locations"] : ["internal:locations"];
}
