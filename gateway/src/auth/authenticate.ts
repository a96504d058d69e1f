import { ApiError, type ErrorCode } from "@pragma/contracts/errors";
import type { TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import { apiKeyPrefix, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { AddressTokenBuckets } from "../limits/address-limits.ts";
import type { GatewayMiddleware } from "../server/gateway-request.ts";
import { readApiKeyHeader } from "./api-key-header.ts";
import type { ApiKeyCache, CachedApiKey } from "./key-cache.ts";

/** Returns what the API key of a request stands for; `address` is asked for only when the key is not known yet. */
export type Authenticator = (authorization: string | undefined, address: () => string) => Promise<CachedApiKey>;

/** What a key can be, also one that the operator chose: 16 characters or more that can be printed. */
const operatorKeyPattern = /^[\x20-\x7e]{16,512}$/;

interface AuthenticationLimits {
  /** How often one address may present keys that turn out to be wrong. */
  failures: TokenBucketRate;
  /** How often one address may present keys of the right form that have to be looked up. */
  lookups: TokenBucketRate;
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
export function createAuthenticator(
  cache: ApiKeyCache,
  { failures, lookups, now = Date.now }: AuthenticationLimits,
): Authenticator {
  const failureBuckets = new AddressTokenBuckets(failures, now);
  const generatedKeyLookups = new AddressTokenBuckets(lookups, now);
  const operatorKeyLookups = new AddressTokenBuckets(lookups, now);

  function rejectKey(code: ErrorCode, address: string): never {
    failureBuckets.takeOrThrow(address, rateLimitDetail("with wrong keys", failures));
    throw unauthorized(code);
  }

  return async (authorization, addressOf) => {
    const credential = requireApiKey(authorization);
    const hash = hashApiKey(credential);
    let key = cache.get(hash);
    if (key && !key.isRevoked) return key;
    const address = addressOf();
    if (key === undefined) {
      const hasOwnPrefix = credential.startsWith(apiKeyPrefix);
      const isPossible = hasOwnPrefix ? isWellFormedApiKey(credential) : operatorKeyPattern.test(credential);
      if (!isPossible) return rejectKey("key_invalid", address);
      const buckets = hasOwnPrefix ? generatedKeyLookups : operatorKeyLookups;
      buckets.takeOrThrow(address, rateLimitDetail("with keys that had to be looked up", lookups));
      key = await cache.find(hash);
      if (key && !key.isRevoked) {
        buckets.refundToken(address);
        return key;
      }
    }
    return rejectKey(key ? "key_revoked" : "key_invalid", address);
  };
}

/** Finds out whose key a request carries. */
export function authenticationMiddleware(authenticate: Authenticator): GatewayMiddleware {
  return async (context, next) => {
    const request = context.get("request");
    request.key = await authenticate(request.incoming.headers.authorization, () => request.clientAddress);
    return next();
  };
}

function rateLimitDetail(what: string, { perSecond, burst }: TokenBucketRate): { detail: string } {
  return {
    detail: `Too many requests ${what} came from this address: it may make ${burst} at once, and ${perSecond} a second.`,
  };
}

/** @throws `ApiError` key_missing. */
export function requireApiKey(authorization: string | undefined): string {
  const credential = readApiKeyHeader(authorization);
  if (!credential) throw unauthorized("key_missing");
  return credential;
}

const unauthorizedDetails: Partial<Record<ErrorCode, string>> = {
  key_missing: "Send an API key in the authorization header: authorization: Bearer <key>.",
  key_invalid: "There is no such API key. Check that it was copied whole.",
  key_revoked: "This API key was revoked. Ask for a new one.",
};

function unauthorized(code: ErrorCode): ApiError {
  const detail = unauthorizedDetails[code];
  return new ApiError(code, { ...(detail !== undefined && { detail }), headers: { "www-authenticate": "Bearer" } });
}
