import { ApiError } from "@pragma/contracts/errors";
import { type Principal, principalSchema } from "@pragma/contracts/principal";
import { jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { RuntimeConfig } from "./config.ts";

/** The header in which the gateway tells a service who is asking. */
export const principalHeader = "x-pragma-principal";

type SigningKeys = RuntimeConfig["PRINCIPAL_KEYS"];

/** How long a signed principal is good for, in seconds. */
const lifetime = 120;
/** How long the gateway hands out the same token, in milliseconds: well within its lifetime. */
const reuse = 60_000;

/** Gives the token of a principal: at once when it has signed that lately. */
export type PrincipalSigner = (principal: Principal) => string | Promise<string>;

/** Signs principals with the first of the keys; the same principal object gets the same token for a while. */
export function principalSigner([key]: SigningKeys): PrincipalSigner {
  if (!key) throw new Error("A key is needed to sign principals.");
  const secret = new TextEncoder().encode(key.secret);
  const tokens = new WeakMap<Principal, { token: string | Promise<string>; until: number }>();
  return (principal) => {
    const known = tokens.get(principal);
    if (known && known.until > Date.now()) return known.token;
    const until = Date.now() + reuse;
    const token = new SignJWT({ principal })
      .setProtectedHeader({ alg: "HS256", kid: key.id })
      .setIssuedAt()
      .setExpirationTime(`${lifetime}s`)
      .sign(secret)
      .then((signed) => {
        tokens.set(principal, { token: signed, until });
        return signed;
      });
    tokens.set(principal, { token, until });
    return token;
  };
}

/**
 * Reads principals signed with any of the keys. A token seen before is not verified again while it is good.
 *
 * @throws `ApiError` key_missing when there is no token or it is not one of the gateway's: a service answers nobody else.
 */
export function principalReader(keys: SigningKeys): (token: string | null | undefined) => Promise<Principal> {
  const secrets = new Map(keys.map(({ id, secret }) => [id, new TextEncoder().encode(secret)]));
  const seen = new LRUCache<string, { principal: Principal; until: number }>({ max: 10_000 });
  return async (token) => {
    if (!token) throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway." });
    const known = seen.get(token);
    if (known && known.until > Date.now()) return known.principal;
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => secretOf(secrets, kid), { algorithms: ["HS256"] });
      const principal = principalSchema.parse(payload.principal);
      seen.set(token, { principal, until: (payload.exp ?? 0) * 1000 });
      return principal;
    } catch (cause) {
      throw new ApiError("key_missing", { detail: "Requests to this service come through the gateway.", cause });
    }
  };
}

function secretOf(secrets: Map<string, Uint8Array>, id: string | undefined): Uint8Array {
  const secret = id === undefined ? undefined : secrets.get(id);
  if (!secret) throw new Error("The principal is signed with a key that is not configured here.");
  return secret;
}
