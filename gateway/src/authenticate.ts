import { ApiError, type ErrorCode } from "@pragma/contracts/errors";
import { apiKeyPrefix, hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import type { Rate } from "@pragma/runtime/token-bucket";
import { AddressBuckets } from "./address-limit.ts";
import { findCredential } from "./credential.ts";
import type { GatewayMiddleware } from "./gateway-request.ts";
import type { KeyCache, KnownKey } from "./key-cache.ts";

/** Returns what the API key of a request stands for; `address` is asked for only when the key is not known yet. */
export type Authenticate = (authorization: string | undefined, address: () => string) => Promise<KnownKey>;

/** What a key can be, also one that the operator chose: 16 characters or more that can be printed. */
const printable = /^[\x20-\x7e]{16,512}$/;

interface AuthLimits {
  /** How often one address may present keys that turn out to be wrong. */
  failures: Rate;
  /** How often one address may present keys of the right form that have to be looked up. */
  lookups: Rate;
  now?: () => number;
}

/**
 * Reads the `authorization` header and looks the key up, in the cache first.
 *
 * It throws key_missing, key_invalid or key_revoked; rate_limited when the address has presented too many wrong keys, or
 * too many that had to be looked up; service_unavailable when accounts is away and the key was not seen lately. What
 * one client presents hardly keeps another behind the same address from a key of its own: wrong keys are refused on a
 * budget that good ones never need, and keys of our own form are looked up on another than the rest.
 */
export function createAuthenticate(cache: KeyCache, { failures, lookups, now = Date.now }: AuthLimits): Authenticate {
  const failureBuckets = new AddressBuckets(failures, now);
  const ownFormLookups = new AddressBuckets(lookups, now);
  const otherLookups = new AddressBuckets(lookups, now);

  function refuse(code: ErrorCode, address: string): never {
    failureBuckets.take(address, tooMany("with wrong keys", failures));
    throw unauthorized(code);
  }

  return async (authorization, addressOf) => {
    const credential = credentialIn(authorization);
    const hash = hashKey(credential);
    let key = cache.get(hash);
    if (key && !key.isRevoked) return key;
    const address = addressOf();
    if (key === undefined) {
      const hasOwnPrefix = credential.startsWith(apiKeyPrefix);
      const isPossible = hasOwnPrefix ? hasKeyShape(credential) : printable.test(credential);
      if (!isPossible) return refuse("key_invalid", address);
      const buckets = hasOwnPrefix ? ownFormLookups : otherLookups;
      buckets.take(address, tooMany("with keys that had to be looked up", lookups));
      key = await cache.find(hash);
      if (key && !key.isRevoked) {
        buckets.refund(address);
        return key;
      }
    }
    return refuse(key ? "key_revoked" : "key_invalid", address);
  };
}

/** Finds out whose key a request carries. */
export function authenticateRequests(authenticate: Authenticate): GatewayMiddleware {
  return async (context, next) => {
    const request = context.get("request");
    request.key = await authenticate(request.incoming.headers.authorization, () => request.address);
    return next();
  };
}

function tooMany(what: string, { perSecond, burst }: Rate): { detail: string } {
  return {
    detail: `Too many requests ${what} came from this address: it may make ${burst} at once, and ${perSecond} a second.`,
  };
}

/** @throws `ApiError` key_missing. */
export function credentialIn(authorization: string | undefined): string {
  const credential = findCredential(authorization);
  if (!credential) throw unauthorized("key_missing");
  return credential;
}

const details: Partial<Record<ErrorCode, string>> = {
  key_missing: "Send an API key in the authorization header: authorization: Bearer <key>.",
  key_invalid: "There is no such API key. Check that it was copied whole.",
  key_revoked: "This API key was revoked. Ask for a new one.",
};

function unauthorized(code: ErrorCode): ApiError {
  const detail = details[code];
  return new ApiError(code, { ...(detail !== undefined && { detail }), headers: { "www-authenticate": "Bearer" } });
}
