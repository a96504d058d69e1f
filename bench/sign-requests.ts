import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { createInternalRequestSigner } from "@pragma/runtime/service-calls/internal-request-signing";
import type { ProductUnderLoad } from "./product-under-load.ts";

/** Signing options of requests straight to a service, in place of the gateway. They can be sent to another process. */
export interface RequestSigningOptions {
  service: ServiceName;
  /** By environment variable. */
  internalKeys: Record<string, string>;
  principal: Principal;
}

/** Returns the options of requests to reporting, signed as by the gateway for an API key of this location. */
export function createRequestSigningOptions(
  { internalKeys }: Pick<ProductUnderLoad, "internalKeys">,
  locationId: string,
): RequestSigningOptions {
  return { service: "reporting", internalKeys, principal: createBenchPrincipal(locationId) };
}

/** Returns the principal of an API key of this location. */
export function createBenchPrincipal(locationId: string): Principal {
  return {
    keyId: randomUUID(),
    consumer: "bench",
    scopes: ["reports:read", "orders:read", "tills:read", "tills:write"],
    location: { id: locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
  };
}

/** Returns a function that creates the signed headers of one GET to a path and query. They expire after a minute. */
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
