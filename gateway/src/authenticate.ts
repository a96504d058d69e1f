import { ApiError, type ErrorCode } from "@pragma/contracts/errors";
import { apiKeyPrefix, hashKey, hasKeyShape } from "@pragma/runtime/api-key";
import type { HeadersMemo } from "./client-side.ts";
import type { GuessLimit } from "./guess-limit.ts";
import type { KeyCache, KnownKey } from "./key-cache.ts";

/** Tells whose the API key of a request is. Answers at once for a key seen lately. */
export type Authenticate = (
  authorization: string | undefined,
  address: () => string,
  memo?: HeadersMemo,
) => KnownKey | Promise<KnownKey>;

/** `Bearer` before the key may be left out, and may be written in any case. */
const scheme = /^bearer(?: +|$)/i;
/** What a key can be, also one that the operator made up: 16 characters or more that can be printed. */
const printable = /^[\x20-\x7e]{16,512}$/;

/**
 * Reads the `authorization` header and asks the cache, and it accounts, for the key's facts.
 *
 * It throws key_missing, key_invalid or key_revoked, rate_limited when too many keys that are not good came from the
 * address, and service_unavailable when accounts is away and the key was not seen lately.
 */
export function createAuthenticate(cache: KeyCache, guesses: GuessLimit): Authenticate {
  function refuse(code: ErrorCode, address: string): never {
    guesses.take(address);
    throw unauthorized(code);
  }

  function accept(key: KnownKey | null, address: string): KnownKey {
    if (!key) return refuse("key_invalid", address);
    if (key.isRevoked) return refuse("key_revoked", address);
    return key;
  }

  async function lookUp(hash: string, address: string): Promise<KnownKey> {
    // Counted as a guess until it is known to be none: so look-ups on their way are limited too.
    guesses.take(address);
    const key = await cache.find(hash).finally(() => guesses.giveBack(address));
    return accept(key, address);
  }

  return (authorization, addressOfClient, memo = {}) => {
    memo.keyHash ??= hashKey(credentialIn(authorization));
    const known = cache.get(memo.keyHash);
    if (known && !known.isRevoked) return known;
    const address = addressOfClient();
    if (known !== undefined) return accept(known, address);
    const credential = credentialIn(authorization);
    const isImpossible = credential.startsWith(apiKeyPrefix) ? !hasKeyShape(credential) : !printable.test(credential);
    return isImpossible ? refuse("key_invalid", address) : lookUp(memo.keyHash, address);
  };
}

function credentialIn(authorization: string | undefined): string {
  const credential = authorization?.trim().replace(scheme, "");
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
