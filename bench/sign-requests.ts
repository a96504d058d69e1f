import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { createInternalRequestSigner } from "@pragma/runtime/service-calls/internal-request-signing";
import type { ProductUnderLoad } from "./product-under-load.ts";

/** For whom a service is asked where the bench takes the gateway's place; it can be sent to another process. */
export interface RequestSigningOptions {
  service: ServiceName;
  /** By the variables that configure them. */
  internalKeys: Record<string, string>;
  principal: Principal;
}

/** Returns what signs requests to reporting as the gateway does for a key of this location. */
export function signingOptionsForLocation(
  { internalKeys }: Pick<ProductUnderLoad, "internalKeys">,
  locationId: string,
): RequestSigningOptions {
  return { service: "reporting", internalKeys, principal: createBenchPrincipal(locationId) };
}

/** Returns who a key of this location with the scopes of the bench stands for. */
export function createBenchPrincipal(locationId: string): Principal {
  return {
    keyId: randomUUID(),
    consumer: "bench",
    scopes: ["reports:read", "orders:read", "tills:read", "tills:write"],
    location: { id: locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
  };
}

/** Returns the headers of a GET to a path and query: each request needs its own, which are good for a minute. */
export function createGetRequestSigner({
  service,
  internalKeys,
  principal,
}: RequestSigningOptions): (target: string) => Record<string, string> {
  const sign = createInternalRequestSigner(internalKeys, "gateway", service);
  return (target) =>
    sign({
      method: "GET",
      target,
      requestId: randomUUID(),
      traceparent: undefined,
      origin: "http://bench.example",
      principal,
    });
}
