import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { createInternalRequestSigner } from "@pragma/runtime/service-calls/internal-request-signing";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";

/** Options to sign requests to a service as the gateway does. As plain data, they can be sent to another process. */
export interface InternalRequestSigningOptions {
  service: ServiceName;
  /** The internal keys of the services, by environment variable. */
  internalKeys: Record<string, string>;
  principal: Principal;
}

/** Returns the options to sign requests to reporting as the gateway does for an API key of this location. */
export function createBenchSigningOptions(
  { internalKeys }: Pick<BenchPragmaDeployment, "internalKeys">,
  locationId: string,
): InternalRequestSigningOptions {
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

/** Returns a function that creates the signed headers of one GET request. The signature expires after one minute. */
export function createGetSigner({
  service,
  internalKeys,
  principal,
}: InternalRequestSigningOptions): (target: string) => Record<string, string> {
  const { sign } = createInternalRequestSigner(internalKeys, "gateway", service);
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
