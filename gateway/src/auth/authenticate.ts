import type { ApiErrorCode } from "@pragma/contracts/errors";
import type { TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { apiKeyPrefix, hashApiKey, isWellFormedApiKey } from "@pragma/runtime/security/api-key";
import { ClientAddressTokenBuckets } from "../limits/address-limits.ts";
import { type CachedApiKey, getApiKeyRejection } from "../server/gateway-request.ts";
import type { ApiKeyCache } from "./api-key-cache.ts";
import { createAuthenticationError, requireApiKeyHeader } from "./api-key-header.ts";

/**
 * Returns the data of the API key in an Authorization header. Calls `getAddress` only if this key is not cached, or is
 * cached as nonexistent, revoked or expired.
 */
export type ApiKeyAuthenticator = ReturnType<typeof createApiKeyAuthenticator>;

/** The format of keys that an operator chose. Other keys are generated. Allows 16 to 512 printable ASCII characters. */
const operatorKeyPattern = /^[\x20-\x7e]{16,512}$/;

interface AuthenticationLimits {
  /** The rate limit per client address for requests with wrong keys. */
  failures: TokenBucketRate;
  /** The rate limit per client address for requests with well-formed keys that are not cached. */
  lookups: TokenBucketRate;
}

/**
 * Returns an authenticator that looks up keys first in the cache and then in accounts.
 *
 * It throws `ApiError` key_missing, key_invalid, key_revoked or key_expired; rate_limited when the address has sent too many wrong
 * or uncached keys; service_unavailable when accounts is unreachable and the key was not cached recently. Valid keys do
 * not count toward the limits. Lookups of generated keys and of keys that an operator chose have separate limits, so
 * that wrong keys of one kind do not block valid keys of the other kind from the same address.
 */
export function createApiKeyAuthenticator(cache: ApiKeyCache, { failures, lookups }: AuthenticationLimits) {
  const failureBuckets = new ClientAddressTokenBuckets("Requests with invalid API keys", failures);
  const uncachedKeys = "Requests with API keys that are unknown or were not used recently";
  const generatedKeyLookups = new ClientAddressTokenBuckets(uncachedKeys, lookups);
  const operatorKeyLookups = new ClientAddressTokenBuckets(uncachedKeys, lookups);

  function rejectKey(code: ApiErrorCode, address: string): never {
    failureBuckets.takeOrThrow(address);
    throw createAuthenticationError(code);
  }

  return async (authorization: string | undefined, getAddress: () => string): Promise<CachedApiKey> => {
    const credential = requireApiKeyHeader(authorization);
    const hash = hashApiKey(credential);
    let key = cache.get(hash);
    if (key && !getApiKeyRejection(key)) return key;
    const address = getAddress();
    if (key === undefined) {
      const hasOwnPrefix = credential.startsWith(apiKeyPrefix);
      const isPossible = hasOwnPrefix ? isWellFormedApiKey(credential) : operatorKeyPattern.test(credential);
      if (!isPossible) return rejectKey("key_invalid", address);
      const buckets = hasOwnPrefix ? generatedKeyLookups : operatorKeyLookups;
      buckets.takeOrThrow(address);
      key = await cache.find(hash);
      if (key && !getApiKeyRejection(key)) {
        buckets.refundToken(address);
        return key;
      }
    }
    return rejectKey((key && getApiKeyRejection(key)) || "key_invalid", address);
  };
}
