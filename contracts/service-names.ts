/** Every service behind the gateway. Each owns the PostgreSQL schema of its name. */
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

/** A part of the product that asks services. */
export type InternalCallerName = ServiceName | "gateway";

/** What one part of the product may ask of another by itself; no consumer can be given any of these. */
export type InternalScope = "internal:keys" | "internal:locations";

/**
 * The parts that may send requests to a service: the gateway, for the clients whose requests it forwards, and of
 * accounts every other service.
 */
export function allowedCallersOf(service: ServiceName): InternalCallerName[] {
  return ["gateway", ...serviceNames.filter((name) => service === "accounts" && name !== service)];
}

/** The rights with which a part asks a service by itself; empty when it has no reason to. */
export function internalScopesOf(caller: InternalCallerName, service: ServiceName): InternalScope[] {
  if (service !== "accounts") return [];
  return [caller === "gateway" ? "internal:keys" : "internal:locations"];
}
