import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import type { ServiceName } from "@pragma/contracts/service-names";
import { createRequestSigner } from "@pragma/runtime/signed-request";
import type { Product } from "./product.ts";

/** For whom a service is asked where the bench takes the gateway's place; it can be sent to another process. */
export interface SignedAs {
  service: ServiceName;
  /** By the variables that configure them. */
  internalKeys: Record<string, string>;
  principal: Principal;
}

/** Returns what signs requests to reporting as the gateway does for a key of this location. */
export function signedForLocation({ internalKeys }: Pick<Product, "internalKeys">, locationId: string): SignedAs {
  return { service: "reporting", internalKeys, principal: principalOf(locationId) };
}

/** Returns who a key of this location with the scopes of the bench stands for. */
export function principalOf(locationId: string): Principal {
  return {
    keyId: randomUUID(),
    consumer: "bench",
    scopes: ["reports:read", "orders:read", "tills:read", "tills:write"],
    location: { id: locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
  };
}

/** Returns the headers of a GET to a path and query: each request needs its own, which are good for a minute. */
export function createSigner({
  service,
  internalKeys,
  principal,
}: SignedAs): (target: string) => Record<string, string> {
  const sign = createRequestSigner(internalKeys, "gateway", service);
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
