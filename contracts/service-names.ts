/** The services behind the gateway. Each owns the PostgreSQL schema with its name. */
export const serviceNames = [
  "accounts",
  "till-ingest",
  "order-live",
  "reporting",
  "catalog",
  "webhooks",
  "jobs",
] as const;

export type ServiceName = (typeof serviceNames)[number];

/** A service, or the gateway, that sends requests to services. */
export type InternalCallerName = ServiceName | "gateway";

/** A scope for requests that the gateway or a service sends on its own behalf. Consumers cannot have these scopes. */
export type InternalScope = "internal:keys" | "internal:locations";

/**
 * Returns the callers that may send requests to a service: the gateway, which forwards client requests, and for
 * accounts also every other service.
 */
export function allowedCallersOf(service: ServiceName): InternalCallerName[] {
  return ["gateway", ...serviceNames.filter((name) => service === "accounts" && name !== service)];
}

/** Returns the scopes of requests that a caller sends on its own behalf to a service; empty if it sends none. */
export function getInternalScopes(caller: InternalCallerName, service: ServiceName): InternalScope[] {
  if (service !== "accounts") return [];
  return [caller === "gateway" ? "internal:keys" : "internal:locations"];
}
