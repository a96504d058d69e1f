import { randomUUID } from "node:crypto";
import type { Principal } from "@pragma/contracts/principal";
import { principalHeader } from "@pragma/runtime/principal-token";
import { SignJWT } from "jose";
import type { Product } from "./product.ts";

/**
 * The header by which a service believes who asks. It is good for a day: the gateway's own are good for minutes, and
 * what asks in its place here does not renew them.
 */
export async function principalHeaders(
  { principalKeys }: Pick<Product, "principalKeys">,
  locationId: string,
): Promise<Record<string, string>> {
  const [id, secret] = principalKeys.split(":");
  if (!id || !secret) throw new Error("A key is needed to sign principals.");
  const principal: Principal = {
    keyId: randomUUID(),
    consumer: "bench",
    scopes: ["reports:read", "orders:read", "tills:read", "tills:write"],
    location: { id: locationId, application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
  };
  const token = await new SignJWT({ principal })
    .setProtectedHeader({ alg: "HS256", kid: id })
    .setIssuedAt()
    .setExpirationTime("1d")
    .sign(new TextEncoder().encode(secret));
  return { [principalHeader]: token };
}
